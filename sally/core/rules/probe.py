"""Probes: questions asked of a seat outside play, and the scoring of answers.

The truth is never logged. It is computed from the replay, so a probe can be re-scored, corrected or
added later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, log
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.log.calls import Call
from sally.core.log.events import Value
from sally.core.log.seat import Seat
from sally.core.rules.chance import Stream
from sally.core.rules.menu import Whole, span

Kind = Literal["choice", "odds", "values"]
Point = Literal["start", "before", "after"]


class Question(msgspec.Struct, frozen=True):
    """A probe as asked at one point of a match: its subject and the possible answers."""

    probe: str
    kind: Kind
    choices: tuple[int | str, ...]  # possible answers; for `values`, the items
    about: str = ""
    low: float = 0.0  # the scale, for `values`
    high: float = 10.0
    numeric: bool = False  # the choices are consecutive whole numbers, answered as a number

    @property
    def scale(self) -> Whole | None:
        """The range of a numeric answer; None if the answer is a name."""
        return span(self.choices) if self.numeric and self.kind == "choice" else None


class At(msgspec.Struct, frozen=True):
    """The turn, seat and probe of a question."""

    turn: int
    seat: Seat
    probe: str
    about: str = ""


@dataclass(frozen=True)
class Probe:
    """A kind of question: who is asked, when, the possible answers, and the truth."""

    name: str
    about: str  # one line for `sally list`
    point: Point  # at a turn's start; before the move; after it and before the reveal
    kind: Kind
    seats: tuple[Seat, ...]  # empty: any
    asks: Callable[[Any, Any, Seat], tuple[Question, ...]]  # (game, view, seat) -> questions
    truth: Callable[[Any, At], Value | None]  # (replay, where) -> value; None = unscored
    of_mind: bool = True  # whether it asks about another's mind, and so counts as knowing
    once: bool = False  # whether a seat is asked at most once per episode
    one_in: int = 1  # asked in one of so many turns, drawn by chance
    repeats: str = ""  # the probe of which this is the second asking


AGAIN = ":again"


def is_repeated(name: str) -> bool:
    """Return whether the name of a probe is that of a second asking.

    >>> is_repeated("their_move"), is_repeated("their_move:again/4")
    (False, True)
    """
    return AGAIN in name


def repeated_name(name: str, one_in: int = 1) -> str:
    """Return the name of a second asking of a probe, in one of so many turns.

    >>> repeated_name("their_move", 4)
    'their_move:again/4'
    """
    return f"{name}{AGAIN}" if one_in == 1 else f"{name}{AGAIN}/{one_in}"


def repeat_probe(name: str, find: Callable[[str], Probe]) -> Probe:
    """Return the second asking of a probe: the same question in a call of its own, with the answers
    in reversed order.

    It shows how reliable reports are, and counts for nothing else. `find` returns the probe of a
    name.

    Raises:
        BadInput: If the probe is asked once per episode only, or the name ends in no whole number.
    """
    first_name, _, part = name.partition(AGAIN)
    probe = find(first_name)
    if probe.once:
        raise BadInput(f"Probe {first_name!r} is asked once per episode, so it cannot be repeated.")
    number = part.removeprefix("/")
    if part and not (part.startswith("/") and number.isdecimal() and int(number) > 0):
        raise BadInput(
            f"{name!r} is no probe: after {first_name + AGAIN!r} comes nothing, or / and a whole "
            "number (asked again in one of so many turns)."
        )

    def asks(game: Any, view: Any, seat: Seat) -> tuple[Question, ...]:
        return tuple(
            question
            if question.numeric
            else msgspec.structs.replace(question, choices=question.choices[::-1])
            for question in probe.asks(game, view, seat)
        )

    def truth(replay: Any, place: At) -> Value | None:
        return probe.truth(replay, msgspec.structs.replace(place, probe=first_name))

    return replace(
        probe,
        name=name,
        about=f"{probe.about}; asked a second time",
        asks=asks,
        truth=truth,
        of_mind=False,
        one_in=int(number) if number else 1,
        repeats=first_name,
    )


class ProbeReport(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="report"):
    """An answer to a probe; `value` is None if no answer could be read."""

    value: Value | None
    odds: tuple[float, ...] | None = None  # over the question's choices, where given
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()


class StatedPrediction(msgspec.Struct, frozen=True):
    """A prediction that a player states together with its move; it counts as a report."""

    probe: str
    value: Value | None
    about: str = ""
    odds: tuple[float, ...] | None = None


def problem(question: Question, report: ProbeReport) -> str | None:
    """Return why `report` does not answer `question`, or None if it does."""
    value, odds = report.value, report.odds
    if odds is not None and (wrong := odds_problem(odds, len(question.choices))):
        return wrong
    if value is None:
        return None
    if question.kind == "values":
        return _values_problem(question, value)
    if type(value) not in (int, str) or value not in question.choices:
        return f"{value!r} is not one of {join_names(map(str, question.choices), 'or')}"
    if question.kind == "odds" and odds is None:
        return "odds over the choices are missing"
    return None


def as_logged(value: Value | None) -> Value | None:
    """Return a value as the log stores it: if it is a mapping, its numbers become floats."""
    return {k: float(v) for k, v in value.items()} if isinstance(value, dict) else value


def odds_problem(odds: Sequence[float], n: int) -> str | None:
    """Return why these numbers are not odds over `n` choices, or None if they are."""
    if len(odds) != n:
        return f"{len(odds)} odds were given for {n} choices"
    numbers = {type(p) for p in odds} <= _NUMBERS
    # also false for sums with an infinity or NaN
    if not numbers or min(odds, default=0) < 0 or not abs(sum(odds) - 1) <= 1e-6:
        return "odds must be at least 0 and sum to 1"
    return None


_NUMBERS = {int, float}


def _is_number(value: Any) -> bool:
    return type(value) in _NUMBERS and isfinite(value)


def _values_problem(question: Question, value: Any) -> str | None:
    if not isinstance(value, dict):
        return f"{value!r} is not a value for each item"
    items = [str(choice) for choice in question.choices]  # keys of JSON are texts
    for item, number in value.items():
        if item not in items:
            return f"{item!r} is not one of the items"
        if not (_is_number(number) and question.low <= number <= question.high):
            return f"{number} for {item} is not from {question.low:g} to {question.high:g}"
    return None


def score(question: Question, report: ProbeReport, truth: Value | None) -> Mapping[str, float]:
    """Return the scores of a report; empty if there is no truth or no answer."""
    if truth is None or report.value is None:
        return {}
    if question.kind == "values":
        return _score_values(report.value, truth)
    right = float(report.value == truth)
    odds = report.odds or tuple(float(c == report.value) for c in question.choices)
    true = [float(c == truth) for c in question.choices]
    probability = sum(p * t for p, t in zip(odds, true, strict=True))
    brier = sum((p - t) ** 2 for p, t in zip(odds, true, strict=True))
    marks = {"right": right, "brier": brier, "log": -log(probability) if probability > 0 else inf}
    if question.scale is not None:  # near misses score better than wide ones
        marks["absolute_error"] = abs(float(report.value) - float(truth))  # type: ignore[arg-type]
    return marks


def _score_values(value: Any, truth: Any) -> Mapping[str, float]:
    answered_items = [item for item in truth if item in value]
    if not answered_items:
        return {}
    return {
        "absolute_error": sum(abs(value[i] - truth[i]) for i in answered_items)
        / len(answered_items),
        "answered": len(answered_items) / len(truth),
    }


def corrupt(question: Question, truth: Value, error: float, draws: Stream) -> Value:
    """Return the truth or, with probability `error`, one of the other choices."""
    if draws() >= error:
        return truth
    if question.kind == "values":
        raise BadInput(
            "A report of values cannot be replaced by a wrong one: there is no list of wrong "
            "values."
        )
    wrong = [c for c in question.choices if c != truth]
    return draws.pick(wrong) if wrong else truth
