"""Conditions of a card that the word games share: frozen rows, and partners of several minds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sally.core.card import Condition, Shortcut
from sally.core.log import Instance
from sally.core.study import instance, sitter

ROWS = 100
MINDS: Mapping[str, Mapping[str, Any]] = {
    "plain sense": {},
    "half by spelling": {"kind": "form", "amount": 0.5},
    "private links": {"kind": "links", "amount": 2.0, "who": 1},
}


def rows_of(game: str, label: str) -> tuple[Instance, ...]:
    """The frozen rows of a game, each with its label."""
    return tuple(instance(game, f"{label} {n:03d}", number=n) for n in range(ROWS))


def opposite(*pairs: str) -> tuple[Shortcut, ...]:
    """Rules with their inverses, each written "rule inverse"."""
    split = [pair.split() for pair in pairs]
    return tuple(Shortcut(sitter(rule), sitter(inverse)) for rule, inverse in split)


def giver_conditions(
    instances: tuple[Instance, ...], shortcuts: Sequence[Shortcut], metrics: tuple[str, ...]
) -> tuple[Condition, ...]:
    """A giver before guessers of every mind above."""
    return tuple(
        Condition(
            name=f"giver, {name}",
            instances=instances,
            seat="giver",
            others={"guesser": sitter("associates", **mind)},
            shortcuts=tuple(shortcuts),
            metrics=metrics,
        )
        for name, mind in MINDS.items()
    )
