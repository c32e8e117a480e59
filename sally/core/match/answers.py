"""Conversion of answers to log events and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.core.errors import BadInput, IllegalMove
from sally.core.log.events import Episode, Event, Forfeited, Moved, Reported, Skipped
from sally.core.match.player import Decision, Fault, Forfeit, Given, NoAnswer, Turn
from sally.core.rules.game import GameSpec
from sally.core.rules.probe import (
    ProbeReport,
    Question,
    StatedPrediction,
    as_logged,
    odds_problem,
    problem,
)
from sally.core.rules.replay import AskId

_ANSWERS = frozenset((Decision, Forfeit, Fault, ProbeReport, NoAnswer))


def as_answer(turn: Turn, answer: Any) -> Any:
    """Return what a player answered to an ask as an answer object.

    A bare action becomes a `Decision`. A bare answer to a probe becomes a `ProbeReport`: a choice
    or its name, a number for each item, or a probability for each choice, in order or by choice.

    Raises:
        IllegalMove: A name is not that of a choice.
    """
    question = turn.question
    if type(answer) in _ANSWERS:
        return answer
    if question is None:
        return Decision(answer)
    if answer is None:  # silence needs a reason
        return answer
    if question.kind == "values":
        return ProbeReport(dict(answer) if isinstance(answer, Mapping) else answer)
    if isinstance(answer, Mapping):
        chances = {_choice(turn, choice): chance for choice, chance in answer.items()}
        return _likeliest(question, [chances.get(choice, 0.0) for choice in question.choices])
    if question.kind == "odds" and isinstance(answer, list | tuple):
        return _likeliest(question, answer)
    return ProbeReport(_choice(turn, answer))


def _choice(turn: Turn, value: Any) -> Any:
    """Return the choice that a value names; a value without a name is returned unchanged."""
    assert turn.question is not None  # only a probe has choices
    if not isinstance(value, str) or value in turn.question.choices:
        return value
    try:
        return turn.choose(value)
    except BadInput as error:
        raise IllegalMove(str(error)) from None


def _likeliest(question: Question, chances: Sequence[Any]) -> ProbeReport:
    """Return the report of the most probable choice; None as its value if these are no odds."""
    odds = tuple(float(chance) if isinstance(chance, float) else chance for chance in chances)
    are_odds = odds_problem(odds, len(question.choices)) is None
    return ProbeReport(question.choices[odds.index(max(odds))] if are_odds else None, odds)


def forfeit_event(turn: Turn, forfeit: Forfeit) -> Forfeited:
    """Return the event of a forfeited move; the player's memory is logged only if there were model
    calls."""
    looked, notes = turn.looked, forfeit.memory if forfeit.calls else None
    forfeit_fields = (forfeit.reason, forfeit.reply, forfeit.tries, forfeit.calls)
    return Forfeited(turn.number, turn.seat, *forfeit_fields, looked, notes)


def move_event(turn: Turn, action: Any, decision: Decision[Any]) -> Moved:
    """Return the event of a move; the player's memory is logged only if there were model calls."""
    calls, number, seat = decision.calls, turn.id[0], turn.context.seat
    memory, looked = decision.memory if calls else None, turn.looked
    return Moved(number, seat, action, decision.reply, decision.tries, calls, memory, looked)


def report_event(turn: Turn, question: Question, report: Any) -> Reported | Skipped:
    """Return the event of an answer to a probe; raises IllegalMove if the answer does not fit."""
    (number, _, probe, about), seat = turn.id, turn.context.seat
    if isinstance(report, NoAnswer):
        return Skipped(number, seat, probe, report.reason, about)
    if not isinstance(report, ProbeReport):
        raise IllegalMove(
            f"{seat} must answer the probe {probe} with a value, a ProbeReport or a NoAnswer, not "
            f"{report!r}."
        )
    if (wrong := problem(question, report)) is not None:
        raise IllegalMove(f"{seat}, asked {probe}: {wrong}.")
    value, reply, tries, calls = as_logged(report.value), report.reply, report.tries, report.calls
    return Reported(number, seat, probe, value, about, report.odds, "probe", reply, tries, calls)


def foreseen(turn: int, seat: str, prediction: StatedPrediction) -> Reported:
    """Convert a prediction that was stated as part of a decision to a report."""
    return Reported(
        turn,
        seat,
        prediction.probe,
        as_logged(prediction.value),
        prediction.about,
        prediction.odds,
        "decision",
    )


def ask_of(event: Event) -> AskId | None:
    """Return the id of the ask that an event answers, or None."""
    match event:
        case Moved() | Forfeited():
            return None if _is_rejected(event) else (event.turn, event.seat, "", "")
        case Reported(source="probe") | Skipped():
            return (event.turn, event.seat, event.probe, event.about)
    return None


def _is_rejected(event: Event) -> bool:
    """Return whether an event is a forfeit imposed by the rules, without asking the seat."""
    return isinstance(event, Forfeited) and event.reason == "rejected"


def answers_of(spec: GameSpec, episode: Episode) -> dict[AskId, tuple[Event, Given]]:
    """Return every logged answer by the id of its ask."""
    predictions: dict[tuple[int, str], tuple[StatedPrediction, ...]] = {}
    for e in episode.events:
        if isinstance(e, Reported) and e.source == "decision":
            prediction = StatedPrediction(e.probe, e.value, e.about, e.odds)
            predictions[e.turn, e.seat] = (*predictions.get((e.turn, e.seat), ()), prediction)
    out: dict[AskId, tuple[Event, Given]] = {}
    for e in episode.events:
        if (ask := ask_of(e)) is not None:
            out[ask] = (e, _answer_in(spec, e, predictions.get((e.turn, e.seat), ())))
    return out


def _answer_in(spec: GameSpec, event: Event, predictions: tuple[StatedPrediction, ...]) -> Given:
    match event:
        case Moved():
            action = action_of(spec, event.action)
            return Decision(
                action, event.memory, event.reply, event.tries, event.calls, predictions
            )
        case Forfeited():
            return Forfeit(event.reason, event.reply, event.tries, event.calls, event.memory)
        case Reported() | Skipped():
            return given_in(event)
    raise TypeError(f"{event!r} is not an answer")


def given_in(event: Reported | Skipped) -> ProbeReport | NoAnswer:
    """Return the answer that an event records for a probe."""
    if isinstance(event, Skipped):
        return NoAnswer(event.reason)
    return ProbeReport(event.value, event.odds, event.reply, event.tries, event.calls)


def action_of(spec: GameSpec, plain: Any) -> Any:
    """Convert an action from plain data to the game's action type."""
    return plain if spec.action is int else msgspec.convert(plain, spec.action)
