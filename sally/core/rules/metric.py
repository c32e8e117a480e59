"""Metrics: numbers computed from a replayed episode for one seat, or None if undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from math import inf
from typing import Any, Literal, TypeVar

import msgspec

from sally.core.log.events import Episode, Reported, Told, Value
from sally.core.rules.game import A, GameSpec, Seat
from sally.core.rules.probe import At, ProbeReport, Question, score
from sally.core.rules.replay import Trajectory


@dataclass(frozen=True)
class Played:
    """An episode with its replay, ready for measuring."""

    spec: GameSpec
    episode: Episode
    replay: Trajectory
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


class JudgedReport(msgspec.Struct, frozen=True):
    """A report or an injected value, with the probe's question and the true answer; `truth` is None
    if the answer is not scored."""

    question: Question
    report: Reported | Told
    truth: Value | None

    @property
    def turn(self) -> int:
        return self.report.turn

    @property
    def scores(self) -> Mapping[str, float]:
        """The scores, such as right, Brier and log; empty without an answer or a truth."""
        return score(self.question, ProbeReport(self.report.value, self.report.odds), self.truth)

    @property
    def right(self) -> bool | None:
        """Whether the value equals the truth; None if there is no truth, or if the answer is a set
        of values on a scale."""
        if self.truth is None or self.question.kind == "values":
            return None
        return self.report.value == self.truth


def judge_report(spec: GameSpec, replay: Trajectory, event: Reported | Told) -> JudgedReport | None:
    """Return a report with its question and truth; None if the game did not ask it."""
    probe, seat = spec.probe(event.probe), Seat(event.seat)
    if event.turn >= len(replay.states):
        return None
    for question in probe.asks(replay.game, replay.view(event.turn, seat), seat):
        if question.about == event.about:
            place = At(event.turn, seat, event.probe, event.about)
            return JudgedReport(question, event, probe.truth(replay, place))
    return None


T = TypeVar("T")


def cache_by_seat(find: Callable[[Played, Seat], T]) -> Callable[[Played, Seat], T]:
    """Cache a function's result by episode and seat; callers must not modify the result."""

    @wraps(find)
    def find_cached(played: Played, seat: Seat) -> T:
        cache = played.known
        try:
            result: T = cache[find, seat]
        except KeyError:
            result = cache[find, seat] = find(played, seat)
        return result

    return find_cached


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None for an empty sequence."""
    return sum(values) / len(values) if values else None


class Terms(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The mean loss of an episode's decisions by cause, in the unit of the doing metric."""

    inference: float | None = None  # the best reply to a wrong prediction
    # what the move gave up by the player's own prediction: never < 0
    translation: float | None = None
    format: float | None = None  # forfeited decisions
    luck: float | None = None  # the rest: the effect of moves against one's own prediction


def terms_of(parts: Sequence[tuple[float, float, float]], format: float | None) -> Terms:
    """Return the means over decisions, each given as (inference, translation, total loss)."""
    if not parts:
        return Terms(format=format)
    inference, translation, missed = (sum(p[i] for p in parts) / len(parts) for i in range(3))
    return Terms(inference, translation, format, missed - inference - translation)


def inference_loss(own_move: A, replies: Sequence[A], loss: Callable[[A], float]) -> float:
    """Return the inference loss of a decision, given the best replies to the prediction.

    It is the loss of the move made if that move is one of them, and otherwise their mean loss.
    """
    counted = (own_move,) if own_move in replies else replies
    return sum(loss(move) for move in counted) / len(counted)


Losses = Callable[[Played, Seat], Terms]
"""A game's own function that splits a seat's loss by cause, used instead of the general one."""


class Cost(msgspec.Struct, frozen=True):
    """The loss of one decision, in the unit of payoffs or of the doing metric, and the best move.

    The loss is relative to what the others were about to do, not to the realised outcome.
    """

    turn: int
    loss: float
    best: tuple[Any, ...] = ()  # best moves; empty if not enumerable
    how: str = ""  # the criterion it is judged by


Costs = Callable[[Played, Seat], list[Cost]]
"""A game's own function that returns the cost of each decision of a seat."""


Ends = tuple[float, float]
COUNTED = ("attributes", "cards", "cells", "hints", "lives", "messages", "moves", "tries", "turns")
ENDS: Mapping[str, Ends] = {
    "share": (0.0, 1.0),
    "%": (0.0, 100.0),
    "nats": (0.0, inf),
    **dict.fromkeys(COUNTED, (0.0, inf)),
}
"""The minimum and maximum of a metric by unit, unless it declares its own."""


@dataclass(frozen=True)
class Metric:
    """A number computed from an episode for one seat."""

    name: str
    about: str
    measure: Callable[[Played, Seat], float | None]
    games: tuple[str, ...] = ()  # the families it fits; empty: all
    better: Literal["higher", "lower", ""] = ""
    unit: str = ""
    bounds: Ends | None = None  # the minimum and maximum, if the unit does not imply them
    within: Callable[[Any, Seat], Ends] | None = None  # (game, seat) -> the same for one game
    label: str = ""  # column heading; empty: its name
    headline: bool = False  # whether tables show it by default
    published: bool = False  # a paper's convention, kept beside our exact measure
    at_random: Callable[[Any, Seat], float | None] | None = None
    """(setup, seat) -> the exact mean of uniformly random moves over all seeds, or None if it is
    not known; the mean of many draws then takes its place."""

    @property
    def ends(self) -> Ends | None:
        """The minimum and maximum, as declared or else implied by the unit."""
        return self.bounds if self.bounds is not None else ENDS.get(self.unit)
