"""Stored sequences of problems: package data. A set of such sequences may be superseded by a new
set but is never edited."""

from __future__ import annotations

import msgspec

from sally.games.association.frozen import Frozen, frozen_set

SETS = ("balanced",)


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One round: the left and right pole, and the target between them."""

    left: str
    right: str
    target: int


def frozen(name: str) -> Frozen[Problem]:
    """Return the stored set of problems with the given name."""
    return frozen_set(__package__, Problem, SETS, name)
