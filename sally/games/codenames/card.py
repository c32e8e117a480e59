"""The card of Codenames: givers and guessers who do not ask what a word brings to the other."""

from __future__ import annotations

from typing import Any

from sally.core.card import Card, Condition, Shortcut
from sally.core.study import instance, sitter

ROWS = 100
METRICS = ("codenames_points", "codenames_won", "codenames_regret")
INSTANCES = tuple(instance("codenames", f"small {n:03d}", number=n) for n in range(ROWS))


def _giver(name: str, **mind: Any) -> Condition:
    return Condition(
        name=name,
        instances=INSTANCES,
        seat="giver",
        others={"guesser": sitter("associates", **mind)},
        shortcuts=(
            Shortcut(sitter("to_one"), sitter("from_one")),
            Shortcut(sitter("to_all"), sitter("to_rival")),
            Shortcut(sitter("hub"), sitter("loner")),
            Shortcut(sitter("hub_all"), sitter("hub")),
        ),
        metrics=METRICS,
    )


CARD = Card(
    family="codenames",
    about="what clues and cards earn that do not ask what a word brings to this mind",
    unattacked="no option is right in itself: a clue is as good as what the guesser makes of "
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
            shortcuts=(
                Shortcut(sitter("first_card"), sitter("last_card")),
                Shortcut(sitter("hub_card"), sitter("loner_card")),
                Shortcut(sitter("a_to_z"), sitter("z_to_a")),
            ),
            metrics=("codenames_points", "codenames_won"),
        ),
    ),
)
