"""Stored series of games: package data. A set of such series may be superseded by a new set but is
never edited."""

from __future__ import annotations

from typing import Annotated

import msgspec

from sally.games.association.frozen import Frozen, frozen_set, row_of

SETS = ("plain", "which")
Code = Annotated[int, msgspec.Meta(ge=123, le=432)]


class PastRound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A round played before the game begins: its public code and hints."""

    code: Code
    hints: tuple[str, str, str]


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One game: its keywords and, if they are fixed, the earlier rounds and the codes to come."""

    keywords: tuple[str, str, str, str]
    past: tuple[PastRound, ...] = ()
    codes: tuple[Code, ...] = ()


def frozen(name: str) -> Frozen[Problem]:
    """Return the stored set of problems with the given name."""
    return frozen_set(__package__, Problem, SETS, name)


def problems_of(name: str, number: int) -> tuple[Problem, ...]:
    """Return the series with this number in the stored set `name`. A series is a tuple of games
    that are played one after another."""
    return row_of(frozen(name), number)
