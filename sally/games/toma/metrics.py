"""Metrics that several games of ToMA share (kang2026).

A prediction is the answer to a probe in the same turn or, if the seat was not asked, the prediction
made within its decision. Consistency compares the seat's choice with its own predictions, whether
or not they are right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.metrics.answers import list_counted_reports


def beliefs(played: Played, seat: Seat) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each turn in which the seat moved, with its predictions, if all of them were
    readable."""
    replay = played.replay
    for turn in range(len(replay)):
        if replay.move(turn, seat) is None:
            continue
        predictions = {
            report.about: report.value
            for report in replay.reports.values()
            if (report.turn, report.seat) == (turn, seat)
        }
        if None not in predictions.values():
            yield turn, predictions


def knew(played: Played, seat: Seat) -> bool | None:
    """Return whether every prediction was right; None if no prediction was made or one was
    unreadable."""
    answers = [answer for answer in list_counted_reports(played, seat) if answer.truth is not None]
    if not answers or any(answer.report.value is None for answer in answers):
        return None
    return all(answer.report.value == answer.truth for answer in answers)


def did(played: Played, seat: Seat) -> bool | None:
    """Return whether the seat's only choice was right; None if it was forfeited or censored."""
    payoffs = played.episode.payoffs
    if payoffs is None or played.replay.forfeited or not len(played.replay):
        return None
    return payoffs[seat] == 1


def success_at_random(setup: Setup, seat: Seat) -> float | None:
    """Return the expected success of a random choice: the share of options that are right."""
    game = registry.game(setup.instance.game).build(setup.instance.params)
    start = game.start()
    paid = [
        game.payoffs(game.step(start, {seat: option}))[seat] for option in game.options(start, seat)
    ]
    return sum(payoff == 1 for payoff in paid) / len(paid)


def _task_success_published(played: Played, seat: Seat) -> float | None:
    payoffs = played.episode.payoffs
    return None if payoffs is None else float(payoffs[seat] == 1)


def _tom_accuracy_published(played: Played, seat: Seat) -> float | None:
    """Return the accuracy of the answers to probes; predictions stated elsewhere are left out, and
    an unreadable answer counts as wrong."""
    answers = [
        answer
        for answer in list_counted_reports(played, seat)
        if answer.truth is not None and answer.report.source == "probe"
    ]
    return sum(a.report.value == a.truth for a in answers) / len(answers) if answers else None


def _cell(name: str, about: str, cell: tuple[bool, bool]) -> Metric:
    """Return the metric that is 1 in one cell of the 2x2 table of knowing and doing, else 0."""

    def measure(played: Played, seat: Seat) -> float | None:
        knew_and_did = (knew(played, seat), did(played, seat))
        return None if None in knew_and_did else float(knew_and_did == cell)

    return Metric(name=f"knowing_doing_{name}", about=about, measure=measure, unit="share")


TOM_ACCURACY_PUBLISHED = Metric(
    name="tom_accuracy_published",
    about="share of questions about others answered right, unreadable as wrong (our reading)",
    measure=_tom_accuracy_published,
    unit="share",
    better="higher",
    published=True,
)
ONE_SHOT = (
    Metric(
        name="task_success",
        bounds=(0, 1),
        about="1 if the choice was the right one; blank where no choice could be read (kang2026)",
        measure=lambda played, seat: None if (right := did(played, seat)) is None else float(right),
        better="higher",
        headline=True,
        at_random=success_at_random,
    ),
    Metric(
        name="task_success_published",
        about="1 if the choice was right, else 0, unreadable ones too (our reading of kang2026)",
        measure=_task_success_published,
        unit="share",
        better="higher",
        published=True,
    ),
    TOM_ACCURACY_PUBLISHED,
    _cell("both", "share with every prediction right and the right choice", (True, True)),
    _cell("knew_only", "share with every prediction right and the wrong choice", (True, False)),
    _cell("did_only", "share with a wrong prediction and the right choice", (False, True)),
    _cell("neither", "share with a wrong prediction and the wrong choice", (False, False)),
)
