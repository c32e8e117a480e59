"""A seat's answers to probes with the true answers: the basis of every report metric.

Each question is rebuilt from the replayed view and its truth computed from the replay, so any
game's probes can be scored, and scored again after a probe is corrected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sally.core.errors import BadInput
from sally.core.log.events import Reported
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played, cache_by_seat, judge_report


@cache_by_seat
def list_counted_reports(played: Played, seat: Seat) -> list[JudgedReport]:
    """Return the reports of a seat that count, by turn, including unreadable ones.

    If several probes ask for the same thing, the first in the game's order that the seat was asked
    in this episode counts, in every turn; predictions made within decisions count only if none of
    these probes was asked. Probes that ask for different things all count.
    """
    if not (seat_reports := [r for r in played.replay.reports.values() if r.seat == seat]):
        return []
    rivals = played.spec.measured.same_question
    chosen = _choose_probe(seat_reports, rivals)
    counted_reports = [
        r for r in seat_reports if r.probe not in rivals or (r.probe, r.source) == chosen
    ]
    return [_judge_report(played, r) for r in sorted(counted_reports, key=lambda r: r.turn)]


def _choose_probe(reports: list[Reported], rivals: tuple[str, ...]) -> tuple[str, str] | None:
    asked_probes = {(r.probe, r.source) for r in reports}
    order = [(probe, source) for source in ("probe", "decision") for probe in rivals]
    return next((candidate for candidate in order if candidate in asked_probes), None)


def _judge_report(played: Played, report: Reported) -> JudgedReport:
    judged_report = judge_report(played.spec, played.replay, report)
    if judged_report is None:
        raise BadInput(
            f"Episode {played.episode.id} has an answer to {report.probe!r} about {report.about!r} "
            f"in turn {report.turn}, but {played.spec.name} does not ask this probe in that turn."
        )
    return judged_report


def reports_before_moves(played: Played) -> Iterator[tuple[Seat, JudgedReport]]:
    """Yield the readable reports of every seat that count and were not asked after the move."""
    for seat in played.replay.game.seats:
        for answer in list_counted_reports(played, seat):
            is_before = played.spec.probe(answer.question.probe).point != "after"
            if is_before and answer.report.value is not None:
                yield seat, answer


@cache_by_seat
def score_reports(played: Played, seat: Seat) -> list[tuple[JudgedReport, Mapping[str, float]]]:
    """Return the reports that count, each with its scores."""
    return [(answer, answer.scores) for answer in list_counted_reports(played, seat)]


def mean_score(played: Played, seat: Seat, name: str, only_with_odds: bool = False) -> float | None:
    """Return the mean of one score over the reports that have it; None if no report has it."""
    values = [
        scores[name]
        for answer, scores in score_reports(played, seat)
        if name in scores and (answer.report.odds is not None or not only_with_odds)
    ]
    return sum(values) / len(values) if values else None
