"""A metric: a number read off a replayed episode for one seat, or None where it has no meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from math import inf
from typing import Any, Literal, TypeVar

import msgspec

from sally.core.log.events import Episode, Reported, Told
from sally.core.match.replay import Trajectory
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.probe import At, ProbeReport, Question, Value, score


@dataclass(frozen=True)
class Played:
    """An episode with its replay, laid open for measuring."""

    spec: GameSpec[Any, Any, Any]
    episode: Episode
    replay: Trajectory[Any, Any, Any]
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


class Judged(msgspec.Struct, frozen=True):
    """What was said or told, with its question and the truth; `truth` None: it is not scored."""

    question: Question
    report: Reported | Told
    truth: Value | None

    @property
    def turn(self) -> int:
        return self.report.turn

    @property
    def scores(self) -> Mapping[str, float]:
        """Right, Brier, log and the like; empty without an answer or a truth."""
        return score(self.question, ProbeReport(self.report.value, self.report.odds), self.truth)

    @property
    def right(self) -> bool | None:
        """Whether it is the truth; None where nothing is true, or only nearly so."""
        if self.truth is None or self.question.kind == "values":
            return None
        return self.report.value == self.truth


def judged(
    spec: GameSpec[Any, Any, Any], replay: Trajectory[Any, Any, Any], event: Reported | Told
) -> Judged | None:
    """A report beside its question and the truth; None if the game asks no such thing there."""
    probe, seat = spec.probe(event.probe), Seat(event.seat)
    if event.turn >= len(replay.states):
        return None
    for question in probe.asks(replay.game, replay.view(event.turn, seat), seat):
        if question.about == event.about:
            at = At(event.turn, seat, event.probe, event.about)
            return Judged(question, event, probe.truth(replay, at))
    return None


T = TypeVar("T")


def shared(find: Callable[[Played, Seat], T]) -> Callable[[Played, Seat], T]:
    """What several metrics ask of a seat, worked out once an episode; nobody changes it."""

    @wraps(find)
    def found(played: Played, seat: Seat) -> T:
        known = played.known
        try:
            kept: T = known[find, seat]
        except KeyError:
            kept = known[find, seat] = find(played, seat)
        return kept

    return found


class Terms(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The mean loss of an episode's decisions by where it arose, in the unit of doing."""

    inference: float | None = None  # the best reply to the prediction, where it was wrong
    translation: float | None = None  # by one's own prediction, what the move gave up: never < 0
    format: float | None = None  # forfeited decisions
    luck: float | None = None  # the rest: what moves against one's prediction happened to change


def terms_of(parts: Sequence[tuple[float, float, float]], format: float | None) -> Terms:
    """The means over decisions, each (inference, translation, all that it missed)."""
    if not parts:
        return Terms(format=format)
    inference, translation, missed = (sum(p[i] for p in parts) / len(parts) for i in range(3))
    return Terms(inference, translation, format, missed - inference - translation)


Losses = Callable[[Played, Seat], Terms]
"""How a game splits what a seat lost, where it knows better than decision by decision."""


class Cost(msgspec.Struct, frozen=True):
    """What one decision gave up, in the unit of payoffs or of doing, and what would have been best.

    It is judged by what the others were going to do, not by what luck made of it.
    """

    turn: int
    loss: float
    best: tuple[Any, ...] = ()  # moves; empty where they are not known one by one
    how: str = ""  # by what it is judged


Costs = Callable[[Played, Seat], list[Cost]]
"""What each decision of a seat gave up, where a game can say so."""


Ends = tuple[float, float]
COUNTED = ("attributes", "cards", "cells", "hints", "lives", "messages", "moves", "tries", "turns")
ENDS: Mapping[str, Ends] = {
    "share": (0.0, 1.0),
    "%": (0.0, 100.0),
    "nats": (0.0, inf),
    **dict.fromkeys(COUNTED, (0.0, inf)),
}
"""By unit, the least and the most that a metric of it can be, unless it declares its own."""


@dataclass(frozen=True)
class Metric:
    """One number of an episode, for a seat."""

    name: str
    about: str
    measure: Callable[[Played, Seat], float | None]
    games: tuple[str, ...] = ()  # the families it fits; empty: all
    better: Literal["higher", "lower", ""] = ""
    unit: str = ""
    bounds: Ends | None = None  # the least and the most that it can be, where the unit is no guide
    within: Callable[[Any, Seat], Ends] | None = None  # (game, seat): the same in one game
    label: str = ""  # the heading of its column; empty: its name
    headline: bool = False  # whether a table shows it unasked
    published: bool = False  # a paper's convention, kept beside our exact measure

    @property
    def ends(self) -> Ends | None:
        """The least and the most that it can be: as declared, else as its unit implies."""
        return self.bounds if self.bounds is not None else ENDS.get(self.unit)
