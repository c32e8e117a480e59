"""Scores of a seat's answers to probes: accuracy, proper scores, errors of values."""

from __future__ import annotations

from math import exp, inf, log

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.metrics.answers import mean_score, score_reports


def _tom_percent(played: Played, seat: Seat) -> float | None:
    share = mean_score(played, seat, "right")
    return None if share is None else 100 * share


def _brier(played: Played, seat: Seat) -> float | None:
    return mean_score(played, seat, "brier", only_with_odds=True)


FLOOR = 0.001


def _log_score(played: Played, seat: Seat) -> float | None:
    scores = [
        -log(max(exp(-scores["log"]), FLOOR))
        for answer, scores in score_reports(played, seat)
        if "log" in scores and answer.report.odds is not None
    ]
    return sum(scores) / len(scores) if scores else None


def _value_error(played: Played, seat: Seat) -> float | None:
    return mean_score(played, seat, "absolute_error")


def _unread_reports(played: Played, seat: Seat) -> float | None:
    seat_reports = [r for r in played.replay.reports.values() if r.seat == seat]
    return (
        100 * sum(r.value is None for r in seat_reports) / len(seat_reports)
        if seat_reports
        else None
    )


METRICS = (
    Metric(
        name="tom_percent",
        about="share of readable answers to probes that were right",
        measure=_tom_percent,
        better="higher",
        unit="%",
        bounds=(0, 100),
        label="ToM %",
        headline=True,
    ),
    Metric(
        name="brier",
        about="squared error of stated odds, summed over choices: 0 perfect, 2 worst (Brier 1950)",
        measure=_brier,
        better="lower",
        bounds=(0, 2),
    ),
    Metric(
        name="log_score",
        about=f"minus log of the odds stated for the truth, floored at {FLOOR}",
        measure=_log_score,
        better="lower",
        unit="nats",
        bounds=(0, -log(FLOOR)),
    ),
    Metric(
        name="value_error",
        about="mean absolute error of value reports, over the items with a value",
        measure=_value_error,
        better="lower",
        unit="points of the scale",
        bounds=(0, inf),
    ),
    Metric(
        name="unread_reports",
        about="share of reports without a readable answer; they are not scored",
        measure=_unread_reports,
        better="lower",
        unit="%",
        bounds=(0, 100),
    ),
)
