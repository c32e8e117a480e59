"""Stored series of boards: package data. A set of such series may be superseded by a new set but is
never edited."""

from __future__ import annotations

from typing import Literal

import msgspec

from sally.games.association.frozen import Frozen, frozen_set

Colour = Literal["own", "other", "neutral", "assassin"]
SETS = ("small", "full")


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One board: its words in order, and the colour of each."""

    words: tuple[str, ...]
    key: tuple[Colour, ...]


def frozen(name: str) -> Frozen[Problem]:
    """Return the stored set of problems with the given name."""
    return frozen_set(__package__, Problem, SETS, name)
