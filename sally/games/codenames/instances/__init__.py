"""Frozen rows of boards: package data that is superseded, never edited."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from sally.core.errors import BadInput, unknown

Colour = Literal["own", "other", "neutral", "assassin"]
SETS = ("small", "full")


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One board: its words as they lie, and the colour of each."""

    words: tuple[str, ...]
    key: tuple[Colour, ...]


class Frozen(msgspec.Struct, frozen=True):
    """A set with the version and the seed that made it."""

    set: str
    version: int
    seed: int
    rows: tuple[tuple[Problem, ...], ...]


@cache
def frozen(name: str) -> Frozen:
    """A frozen set by name."""
    if name not in SETS:
        raise unknown("set of codenames", name, SETS)
    text = files(__package__).joinpath(f"{name}.json").read_bytes()
    return msgspec.json.decode(text, type=Frozen)


def problems_of(name: str, number: int) -> tuple[Problem, ...]:
    """One row of a frozen set."""
    rows = frozen(name).rows
    if not 0 <= number < len(rows):
        raise BadInput(f"number must be from 0 to {len(rows) - 1}, not {number}")
    return rows[number]
