"""Baseline players of Codenames (its card), which ignore the partner's associations."""

from __future__ import annotations

from functools import lru_cache

from sally.core.registry.study import player_spec
from sally.core.rules.card import Card, Condition
from sally.games.association.conditions import giver_conditions, opposite, rows_of
from sally.games.codenames.instances import frozen
from sally.games.codenames.rules import Codenames

METRICS = ("codenames_points", "codenames_won", "codenames_regret")
INSTANCES = rows_of("codenames", "small")
GUESSERS = opposite("first_card last_card", "hub_card loner_card", "a_to_z z_to_a")


@lru_cache(maxsize=1000)
def one_a_turn(n_own: int, n_other: int, neutral: int, n_found: int = 0) -> float:
    """Return the exact expected points of a guesser that turns over one random covered card per
    turn.

    The arguments count the covered cards of each colour; the assassin is one more. After each turn
    that does not end the board, the rival turns over one of its own cards.
    """
    if n_own == 0:
        return n_found + Codenames().bonus * n_other
    if n_other == 0:
        return float(n_found)
    points = n_own * one_a_turn(n_own - 1, n_other - (n_own > 1), neutral, n_found + 1)
    points += n_other * one_a_turn(n_own, max(n_other - 2, 0), neutral, n_found)
    if neutral:
        points += neutral * one_a_turn(n_own, n_other - 1, neutral - 1, n_found)
    return points / (n_own + n_other + neutral + 1)


def deaf() -> dict[str, float]:
    """Return the exact expected points of a guesser that turns over one random card per clue."""
    # every small board has the same number of cards of each colour
    key = frozen("small").rows[0][0].key
    points = one_a_turn(key.count("own"), key.count("other"), key.count("neutral"))
    return {"codenames_points": points}


CARD = Card(
    family="codenames",
    no_ideal="a clue is any of thousands of words, so that what the partner's replies "
    "would reveal after each cannot be enumerated; the reference `adapts` infers "
    "the partner's mind by Bayes' rule and gives the best word for it, without "
    "looking ahead",
    episodes=25,  # a giver's regret tries every word of the list: 100 take minutes
    about="scores of clues and cards that ignore what a word suggests to the partner",
    unattacked="no option is right in itself: a clue is as good as what the guesser makes of "
    "it, which the conditions measure",
    conditions=(
        *giver_conditions(
            INSTANCES,
            opposite("to_one from_one", "to_all to_rival", "hub loner", "hub_all hub"),
            METRICS,
        ),
        Condition(
            name="guesser, plain sense",
            instances=INSTANCES,
            seat="guesser",
            others={"giver": player_spec("associates")},
            shortcuts=GUESSERS,
            metrics=("codenames_points", "codenames_won"),
        ),
        Condition(  # one card per turn: chance does not depend on the clues, and no board is won
            name="guesser, clues for one card",
            instances=INSTANCES,
            seat="guesser",
            others={"giver": player_spec("associates", most=1)},
            shortcuts=GUESSERS,
            metrics=("codenames_points",),
            chance=deaf(),
        ),
    ),
)
