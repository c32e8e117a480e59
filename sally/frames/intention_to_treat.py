"""Scores by intention to treat: decisions that were forfeited or never reached count too.

The lower figure scores these decisions as the rules do, the upper figure at their maximum. A
player that stays silent when it does not know gains nothing in the first figure and is not
penalised in the second.
"""

from __future__ import annotations

from collections.abc import Callable

from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played

Range = tuple[float, float]
Counted = tuple[float | None, float | None, float | None]
"""The score by the rules, the score at best, and the optimum of the episode; None if unknown."""
Intended = Callable[[Played, Seat], Counted]


def span_of(played: Played, seat: Seat, metric: Metric) -> Range | None:
    """Return the lowest and highest possible score of a seat in this game, or None if they are
    unknown."""
    game_range = played.spec.measured.doing.range
    return game_range(played.replay.game, seat) if game_range is not None else metric.bounds


def score_intention_to_treat(
    played: Played, seat: Seat, doing: float | None, optimum: float | None, span: Range | None
) -> Counted:
    """Return two scores in which forfeited and unreached decisions count too, and the optimal
    score. The first scores such decisions as the rules do, the second at their maximum."""
    has_forfeited = any(seat in seats for seats in played.replay.forfeited.values())
    if doing is not None and not has_forfeited and played.episode.payoffs is not None:
        return doing, doing, optimum
    game_scores: Intended | None = registry.part(played.spec.name, "intended")
    if game_scores is not None:
        lowest, highest, full_optimum = game_scores(played, seat)
        return lowest, highest, optimum if full_optimum is None else full_optimum
    if played.spec.measured.doing.right is not None:
        return *_of_choices(played, seat, doing, played.spec.measured.doing.right), optimum
    lowest, highest = span or (None, None)
    if optimum is not None and doing is not None:
        highest = max(optimum, doing)
    return (lowest if doing is None else doing), highest, optimum


def _of_choices(
    played: Played, seat: Seat, doing: float | None, value_if_right: float
) -> tuple[float, float]:
    """Return the lower and upper score of a player whose decisions are independent of each other.

    A missing decision counts as wrong in the lower score and as right in the upper one.
    """
    replay, count = played.replay, played.spec.measured.doing.decisions
    decided = sum(seat in moves for moves in replay.moves)
    due = max(count(replay.game) if count else 1, decided)
    right = 0.0 if doing is None else doing * decided
    return right / due, (right + value_if_right * (due - decided)) / due
