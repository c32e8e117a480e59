"""Reports that were asked for twice: how reliable they are.

The second asking is the same question in a call of its own, with the answers in reversed order
(`sally.core.rules.probe.repeat_probe`). If a report is the player's belief with probability r and a
random answer otherwise, two reports agree beyond chance with probability r squared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played, judge_report
from sally.metrics.answers import list_counted_reports
from sally.metrics.consistency import (
    ForecastFit,
    beliefs,
    contrast_of,
    copied_options,
    judge_decision,
    with_replies,
)


class Retest(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums over the questions of one seat that were asked twice and answered twice."""

    twice: int = 0
    same: int = 0  # the same answer both times
    same_by_chance: float = 0.0  # expected of two random answers
    # as `contrasted` and `contrast`, of a player that always follows its second report
    retested: int = 0
    retest_contrast: float = 0.0


def retest(played: Played, seat: Seat, labels: Mapping[int, int | None]) -> Retest:
    """Return how far the second reports of a seat agree with the first.

    Args:
        played: The episode.
        seat: The seat.
        labels: The option with the label of the forecast move, by turn.
    """
    pairs = list(report_pairs(played, seat))
    if not pairs:
        return Retest()
    retested, contrast = contrast_of(list(_second_fits(played, seat, pairs, labels)))
    return Retest(
        twice=len(pairs),
        same=sum(first.report.value == second.report.value for first, second in pairs),
        same_by_chance=sum(1 / len(first.question.choices) for first, _ in pairs),
        retested=retested,
        retest_contrast=contrast,
    )


def report_pairs(played: Played, seat: Seat) -> Iterator[tuple[JudgedReport, JudgedReport]]:
    """Yield the first and the second answer to each question about another's mind that has a list
    of answers and was answered twice."""
    if not played.replay.repeated:
        return
    firsts = {
        (answer.turn, answer.report.probe, answer.report.about): answer
        for answer in list_counted_reports(played, seat)
    }
    for report in played.replay.repeated.values():
        probe = played.spec.probe(report.probe)
        first = firsts.get((report.turn, probe.repeats, report.about))
        if report.seat != seat or report.value is None or first is None:
            continue
        if first.report.value is None or first.question.kind == "values":
            continue
        second = judge_report(played.spec, played.replay, report)
        if second is not None and played.spec.probe(probe.repeats).of_mind:
            yield first, second


def _second_fits(
    played: Played,
    seat: Seat,
    pairs: list[tuple[JudgedReport, JudgedReport]],
    labels: Mapping[int, int | None],
) -> Iterator[ForecastFit]:
    """Yield a fit for each forecast that was stated twice: the best replies to the first report,
    and as the move the first best reply to the second."""
    if played.spec.measured.best_replies is None:
        return
    second_beliefs: dict[int, dict[str, Any]] = {}
    for first, second in pairs:
        belief: Any = second.report.value
        if first.question.kind == "odds":
            chances = dict(zip(second.question.choices, second.report.odds or (), strict=True))
            belief = tuple(chances[choice] for choice in first.question.choices)
        second_beliefs.setdefault(first.turn, {})[first.report.about] = belief
    fits: dict[int, ForecastFit] = {}  # by turn
    for turn, first_belief in beliefs(played, seat):
        second_belief = second_beliefs.get(turn)
        if not first_belief or second_belief is None or second_belief.keys() != first_belief.keys():
            continue
        fit = judge_decision(played, seat, turn, first_belief)
        second_fit = judge_decision(played, seat, turn, second_belief)
        if fit is None or fit.best is None or second_fit is None or not second_fit.best:
            continue
        menu = played.replay.game.options(played.replay.states[turn], seat)
        copies = copied_options(played, seat, turn, first_belief, labels)
        fits[turn] = ForecastFit(second_fit.best[0], frozenset(fit.best), len(menu), copies)
    yield from with_replies(played, seat, fits)
