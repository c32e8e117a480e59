"""Stored sequences of problems: package data. A set of such sequences may be superseded by a new
set but is never edited."""

from __future__ import annotations

import msgspec

from sally.games.association.frozen import Frozen, frozen_set

SETS = ("balanced",)


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One round: the target word, and the banned words."""

    target: str
    banned: tuple[str, ...]


def frozen(name: str) -> Frozen[Problem]:
    """Return the stored set of problems with the given name."""
    return frozen_set(__package__, Problem, SETS, name)
