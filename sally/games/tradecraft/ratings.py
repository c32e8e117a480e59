"""Ratings of many games in a few numbers: how often each order shows, how strong each trait is."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sally.games.tradecraft.assessor import DIMENSIONS, ORDERS, Rating


class Summary(msgspec.Struct, frozen=True):
    """One order of theory of mind, or one dimension, over all turns that were judged on it."""

    dimension: str
    turns: int  # a turn of one player is one
    share: float | None = None  # of turns in which the order shows
    mean: float | None = None  # of the grades


def summary(ratings: Sequence[Rating]) -> tuple[Summary, ...]:
    """The share of turns for each order and the mean grade for each dimension."""
    rows = []
    for name in (*ORDERS, *DIMENSIONS):
        found = [float(v) for r in ratings if (v := getattr(r, name)) is not None]
        middle = sum(found) / len(found) if found else None
        judged = {"share": middle} if name in ORDERS else {"mean": middle}
        rows.append(Summary(name, len(found), **judged))
    return tuple(rows)
