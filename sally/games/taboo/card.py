"""Baseline players of Taboo (its card), which ignore the partner's associations."""

from __future__ import annotations

from sally.core.registry.study import player_spec
from sally.core.rules.card import Card, Condition
from sally.games.association.conditions import giver_conditions, opposite, rows_of
from sally.games.association.lexicon import cards
from sally.games.taboo.rules import Taboo

METRICS = ("taboo_points", "taboo_found", "taboo_regret")
INSTANCES = rows_of("taboo", "row")


def random_guesses() -> dict[str, float]:
    """Return the exact score of a guesser that names nouns from the list at random."""
    hints, chance = Taboo().hints, 1 / len(cards())
    first_at = [(1 - chance) ** n * chance for n in range(hints)]
    points = sum(p * (hints - n) for n, p in enumerate(first_at))
    return {"taboo_points": points, "taboo_found": sum(first_at)}


CARD = Card(
    family="taboo",
    no_ideal="a hint is any of thousands of words, so that what the partner's replies "
    "would reveal after each cannot be enumerated; the reference `adapts` infers "
    "the partner's mind by Bayes' rule and gives the best word for it, without "
    "looking ahead",
    about="scores of hints and guesses that ignore what a word suggests to the partner",
    unattacked="no option is right in itself: a word is as good as what the guesser makes of "
    "it, which the conditions measure",
    conditions=(
        *giver_conditions(INSTANCES, opposite("nearest farthest", "hub loner"), METRICS),
        Condition(
            name="guesser, plain sense",
            instances=INSTANCES,
            seat="guesser",
            others={"giver": player_spec("associates")},
            shortcuts=opposite("list_order list_backwards"),
            metrics=("taboo_points", "taboo_found"),
            chance=random_guesses(),
        ),
    ),
)
