"""Stored tables of the step race, at which modelling the partners pays.

A table is given by the two partners, the evaluated seat and the target. At a stored one the
evaluated seat can win, and the solved best reply earns clearly more than a random player and than
fixed players that send no messages, so that a scale from mindless to best play is defined.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import msgspec

from sally.core.log.events import PlayerSpec

FILE = "certified.json"


class CertifiedProblem(msgspec.Struct, frozen=True):
    """A combination of two partners, a seat and a target in which modelling the partners pays; the
    values of play are exact, in expected points at the start."""

    id: str
    params: dict[str, Any]
    seat: str
    others: dict[str, PlayerSpec]
    optimum: float
    uniform: float
    mindless: dict[str, float]  # by mute fixed player
    first_moves: tuple[int, ...]  # the best ones if nothing is announced; a set, because of ties


@cache
def read_certified() -> tuple[CertifiedProblem, ...]:
    """Return the tables that ship with the package. A table consists of two partners, the evaluated
    seat and the target; at these, modelling the partners pays."""
    file = resources.files(__package__) / "instances" / FILE
    return msgspec.json.decode(file.read_bytes(), type=tuple[CertifiedProblem, ...])
