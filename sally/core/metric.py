"""A metric: a number read off a replayed episode for one seat, or None where it has no meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, TypeVar

import msgspec

from sally.core.game import GameSpec, Seat
from sally.core.log import Episode
from sally.core.replay import Replay


@dataclass(frozen=True)
class Played:
    """An episode with its replay, laid open for measuring."""

    spec: GameSpec[Any, Any, Any]
    episode: Episode
    replay: Replay[Any, Any, Any]
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


T = TypeVar("T")


def shared(find: Callable[[Played, Seat], T]) -> Callable[[Played, Seat], T]:
    """What several metrics ask of a seat, worked out once an episode; nobody changes it."""

    @wraps(find)
    def found(played: Played, seat: Seat) -> T:
        key = (find, seat)
        if key not in played.known:
            played.known[key] = find(played, seat)
        kept: T = played.known[key]
        return kept

    return found


class Terms(msgspec.Struct, frozen=True):
    """The mean loss of an episode's decisions by where it arose, in the unit of doing."""

    inference: float | None = None
    translation: float | None = None
    format: float | None = None
    horizon: float | None = None


Losses = Callable[[Played, Seat], Terms]
"""How a game splits what a seat lost, where it knows better than decision by decision."""


@dataclass(frozen=True)
class Metric:
    """One number of an episode, for a seat."""

    name: str
    about: str
    measure: Callable[[Played, Seat], float | None]
    games: tuple[str, ...] = ()  # the families it fits; empty: all
    better: Literal["higher", "lower", ""] = ""
    unit: str = ""
    bounds: tuple[float, float] | None = None  # the least and the most that it can be
    label: str = ""  # the heading of its column; empty: its name
    headline: bool = False  # whether a table shows it unasked
    published: bool = False  # a paper's convention, kept beside our exact measure
