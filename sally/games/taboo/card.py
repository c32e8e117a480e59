"""The card of Taboo: givers and guessers who do not ask what a word brings to the other's mind."""

from __future__ import annotations

from typing import Any

from sally.core.card import Card, Condition, Shortcut
from sally.core.study import instance, sitter

ROWS = 100
INSTANCES = tuple(instance("taboo", f"row {n:03d}", number=n) for n in range(ROWS))
METRICS = ("taboo_points", "taboo_found", "taboo_regret")


def _giver(name: str, **mind: Any) -> Condition:
    return Condition(
        name=name,
        instances=INSTANCES,
        seat="giver",
        others={"guesser": sitter("associates", **mind)},
        shortcuts=(
            Shortcut(sitter("nearest"), sitter("farthest")),
            Shortcut(sitter("hub"), sitter("loner")),
        ),
        metrics=METRICS,
    )


CARD = Card(
    family="taboo",
    about="what hints and guesses earn that do not ask what a word brings to this mind",
    unattacked="no option is right in itself: a word is as good as what the guesser makes of "
    "it, which the conditions measure",
    conditions=(
        _giver("giver, plain sense"),
        _giver("giver, half by spelling", kind="form", amount=0.5),
        _giver("giver, private links", kind="links", amount=2.0, who=1),
        Condition(
            name="guesser, plain sense",
            instances=INSTANCES,
            seat="guesser",
            others={"giver": sitter("associates")},
            shortcuts=(Shortcut(sitter("list_order"), sitter("list_backwards")),),
            metrics=("taboo_points", "taboo_found"),
        ),
    ),
)
