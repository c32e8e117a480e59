"""The measures that several games of ToMA share (kang2026)."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.toma.predictions import cell, did
from sally.metrics.answers import counted


def _task_success(played: Played, seat: Seat) -> float | None:
    right = did(played, seat)
    return None if right is None else float(right)


def _task_success_published(played: Played, seat: Seat) -> float | None:
    payoffs = played.episode.payoffs
    return None if payoffs is None else float(payoffs[seat] == 1)


def _tom_accuracy_published(played: Played, seat: Seat) -> float | None:
    """Questions that were put aside from play only; an unreadable answer is a wrong one."""
    asked = [
        answer
        for answer in counted(played, seat)
        if answer.truth is not None and answer.report.source == "probe"
    ]
    return sum(a.report.value == a.truth for a in asked) / len(asked) if asked else None


def _both(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (True, True))


def _knew_only(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (True, False))


def _did_only(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (False, True))


def _neither(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (False, False))


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
        measure=_task_success,
        better="higher",
        headline=True,
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
    Metric(
        name="knowing_doing_both",
        about="share with every prediction right and the right choice",
        measure=_both,
        unit="share",
    ),
    Metric(
        name="knowing_doing_knew_only",
        about="share with every prediction right and the wrong choice",
        measure=_knew_only,
        unit="share",
    ),
    Metric(
        name="knowing_doing_did_only",
        about="share with a wrong prediction and the right choice",
        measure=_did_only,
        unit="share",
    ),
    Metric(
        name="knowing_doing_neither",
        about="share with a wrong prediction and the wrong choice",
        measure=_neither,
        unit="share",
    ),
)
