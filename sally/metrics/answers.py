"""A seat's answers to probes with the true answers: the basis of every report metric.

Each question is rebuilt from the replayed view and its truth computed from the replay, so any
game's probes can be scored, and scored again after a probe is corrected.
"""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.errors import BadInput
from sally.core.log.events import Reported
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played, judged, shared


@shared
def counted(played: Played, seat: Seat) -> list[JudgedReport]:
    """Return the reports of a seat that count, by turn, including unreadable ones.

    If several probes ask for the same thing, the first in the game's order that the seat was asked
    in this episode counts, in every turn; predictions made within decisions count only if none of
    these probes was asked. Probes that ask for different things all count.
    """
    if not (mine := [r for r in played.replay.reports.values() if r.seat == seat]):
        return []
    rivals = played.spec.measured.same_question
    chosen = _chosen(mine, rivals)
    kept = [r for r in mine if r.probe not in rivals or (r.probe, r.source) == chosen]
    return [_judged(played, r) for r in sorted(kept, key=lambda r: r.turn)]


def _chosen(reports: list[Reported], rivals: tuple[str, ...]) -> tuple[str, str] | None:
    there = {(r.probe, r.source) for r in reports}
    order = [(probe, source) for source in ("probe", "decision") for probe in rivals]
    return next((one for one in order if one in there), None)


def _judged(played: Played, report: Reported) -> JudgedReport:
    found = judged(played.spec, played.replay, report)
    if found is None:
        raise BadInput(
            f"Episode {played.episode.id} has an answer to {report.probe!r} about {report.about!r} "
            f"in turn {report.turn}, but {played.spec.name} does not ask this probe in that turn."
        )
    return found


@shared
def scored(played: Played, seat: Seat) -> list[tuple[JudgedReport, Mapping[str, float]]]:
    """Return the reports that count, each with its scores."""
    return [(answer, answer.scores) for answer in counted(played, seat)]


def mean_score(played: Played, seat: Seat, name: str, only_with_odds: bool = False) -> float | None:
    """Return the mean of one score over the reports that have it; None if no report has it."""
    found = [
        scores[name]
        for answer, scores in scored(played, seat)
        if name in scores and (answer.report.odds is not None or not only_with_odds)
    ]
    return sum(found) / len(found) if found else None
