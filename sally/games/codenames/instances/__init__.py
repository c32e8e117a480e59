"""Frozen series of boards: package data; a set may be superseded by a new one but is never
edited."""

from __future__ import annotations

from typing import Literal

import msgspec

from sally.games.association.frozen import Frozen, frozen_set, row_of

Colour = Literal["own", "other", "neutral", "assassin"]
SETS = ("small", "full")


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One board: its words in order, and the colour of each."""

    words: tuple[str, ...]
    key: tuple[Colour, ...]


def frozen(name: str) -> Frozen[Problem]:
    """Return a frozen set by name."""
    return frozen_set(__package__, Problem, SETS, name)


def problems_of(name: str, number: int) -> tuple[Problem, ...]:
    """Return the boards with this number in a frozen set, in the order in which they are played."""
    return row_of(frozen(name), number)
