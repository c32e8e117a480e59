"""The card of Taboo: givers and guessers who do not ask what a word brings to the other's mind."""

from __future__ import annotations

from sally.core.registry.study import player_spec
from sally.core.rules.card import Card, Condition
from sally.games.association.conditions import giver_conditions, opposite, rows_of
from sally.games.association.lexicon import cards
from sally.games.taboo.rules import Taboo

METRICS = ("taboo_points", "taboo_found", "taboo_regret")
INSTANCES = rows_of("taboo", "row")


def deaf() -> dict[str, float]:
    """What a guesser earns who names any noun of the list after every hint; exact."""
    hints, one = Taboo().hints, 1 / len(cards())
    first_at = [(1 - one) ** n * one for n in range(hints)]
    points = sum(p * (hints - n) for n, p in enumerate(first_at))
    return {"taboo_points": points, "taboo_found": sum(first_at)}


CARD = Card(
    family="taboo",
    about="what hints and guesses earn that do not ask what a word brings to this mind",
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
            chance=deaf(),
        ),
    ),
)
