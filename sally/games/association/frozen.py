"""Stored series of problems: package data of a game. A set of such series may be superseded by a
new set but is never edited."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Generic, TypeVar

import msgspec

from sally.core.errors import BadInput, unknown

P = TypeVar("P")


class Frozen(msgspec.Struct, Generic[P], frozen=True):
    """A stored set of problems with its version and the seed that generated it."""

    set: str
    version: int
    seed: int
    rows: tuple[tuple[P, ...], ...]


def frozen_set(package: str, problem: type[P], sets: tuple[str, ...], name: str) -> Frozen[P]:
    """Return the stored set of problems with the given name, from the folder `instances` of a
    game."""
    if name not in sets:
        raise unknown(f"set of {package.split('.')[-2]}", name, sets)
    kind: Any = problem
    problem_set: Frozen[P] = _read(package, kind, name)
    return problem_set


@cache
def _read(package: str, problem: Any, name: str) -> Any:
    text = files(package).joinpath(f"{name}.json").read_bytes()
    return msgspec.json.decode(text, type=Frozen[problem])


def row_of(problem_set: Frozen[P], number: int) -> tuple[P, ...]:
    """Return the series with this number in a stored set. A series is a tuple of problems that are
    played one after another."""
    if not 0 <= number < len(problem_set.rows):
        raise BadInput(f"number must be from 0 to {len(problem_set.rows) - 1}, not {number}")
    return problem_set.rows[number]
