"""The card of Taboo: givers and guessers who do not ask what a word brings to the other's mind."""

from __future__ import annotations

from sally.core.card import Card, Condition
from sally.core.study import sitter
from sally.games.association.conditions import giver_conditions, opposite, rows_of

METRICS = ("taboo_points", "taboo_found", "taboo_regret")
INSTANCES = rows_of("taboo", "row")

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
            others={"giver": sitter("associates")},
            shortcuts=opposite("list_order list_backwards"),
            metrics=("taboo_points", "taboo_found"),
        ),
    ),
)
