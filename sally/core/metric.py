"""A metric: a number read off a replayed episode for one seat, or None where it has no meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, TypeVar

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


@dataclass(frozen=True)
class Metric:
    """One number of an episode, for a seat."""

    name: str
    about: str
    measure: Callable[[Played, Seat], float | None]
    games: tuple[str, ...] = ()  # the families it fits; empty: all
    better: Literal["higher", "lower", ""] = ""
    unit: str = ""
    label: str = ""  # the heading of its column; empty: its name
    headline: bool = False  # whether a table shows it unasked
    published: bool = False  # a paper's convention, kept beside our exact measure
