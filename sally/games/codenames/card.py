"""The card of Codenames: givers and guessers who do not ask what a word brings to the other."""

from __future__ import annotations

from sally.core.card import Card, Condition
from sally.core.study import sitter
from sally.games.association.conditions import giver_conditions, opposite, rows_of

METRICS = ("codenames_points", "codenames_won", "codenames_regret")
INSTANCES = rows_of("codenames", "small")

CARD = Card(
    family="codenames",
    about="what clues and cards earn that do not ask what a word brings to this mind",
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
            others={"giver": sitter("associates")},
            shortcuts=opposite("first_card last_card", "hub_card loner_card", "a_to_z z_to_a"),
            metrics=("codenames_points", "codenames_won"),
        ),
    ),
)
