"""The depth table of a game: how often reasoners of depth 0, 1, 2, ... are right on its
problems."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sally.core.errors import BadInput
from sally.core.grouping import group_by
from sally.core.registry import registry
from sally.core.rules.depth import Depths, Reasoned


def depths_of(game: str) -> Depths:
    """Return a game's declaration of its depths of reasoning.

    Raises:
        BadInput: If the game has no such declaration.
    """
    depths: Depths | None = registry.part(game, "depths")
    if depths is None:
        raise BadInput(
            f"{game} does not declare depths of reasoning: define DEPTHS in its decisions.py."
        )
    return depths


def depth_table(game: str) -> list[dict[str, Any]]:
    """Return a row for each group of questions: the chance level, the share of right answers at
    each depth, and the number of questions that need each depth."""
    groups = group_by(depths_of(game).questions(), lambda question: question.group)
    return [_row(name, listed) for name, listed in groups.items()]


def _row(name: str, listed: list[Reasoned]) -> dict[str, Any]:
    deepest = max(len(question.by_depth) for question in listed)
    shares = {
        f"depth {k}": sum(question.hit(k) for question in listed) / len(listed)
        for k in range(deepest)
    }
    counts = Counter(question.depth for question in listed)
    reached = sorted(depth for depth in counts if depth is not None)
    depths = [f"{depth}: {counts[depth]}" for depth in reached]
    depths += [f"none: {counts[None]}"] if counts[None] else []
    return {
        "set": name,
        "n": len(listed),
        "chance": listed[0].chance,
        **shares,
        "block": listed[0].block,
        "depths": ", ".join(depths),
    }
