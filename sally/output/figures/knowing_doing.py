"""Scales, labels and explanations that figures of knowing and doing share, whether Matplotlib or a
page draws them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sally.analysis.profile.profile import ProfileRow

LOWEST, HIGHEST = -1.5, 1.5  # values of doing beyond these are drawn at the edge and labelled
LEAST_KNOWING = -1.0  # of the scale
MANY = 12  # points of a plot beyond which names cannot be followed to them
KNOWING, RANDOM = "knowing (0 = uniform guess, 1 = always right)", "random player"
EXPLANATION = (
    "Horizontal: how often a player was right about the others, 0 for a uniform guess, 1 for "
    "always. Vertical: its score, 0 for a random player, 1 for the optimum or the reference player "
    "on the same instances, with the same random draws and other players; forfeited moves score as "
    "the rules say. Diamonds: the best simple rule and mindless player. Bottom right: knows but "
    "does not act on it. Top left: does well without knowing. Bars: 95% intervals over clusters of "
    "episodes."
)
ODDS, CAME_TRUE = "stated odds (%)", "came true (%)"  # axes of calibration


def doing_label(best: str = "best") -> str:
    """Return the label of an axis of doing, given the player that is at 1."""
    return f"doing (0 = {RANDOM}, 1 = {best})"


def clip_doing(value: float) -> float:
    """Return a value of doing, or the edge of the scale beyond which it lies."""
    return min(max(value, LOWEST), HIGHEST)


def doing_limits(values: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis of doing that shows 0, 1 and the values."""
    clipped = [clip_doing(value) for value in values]
    return min([-0.15, *(v - 0.1 for v in clipped)]), max([1.15, *(v + 0.1 for v in clipped)])


def lowest_knowing(values: Iterable[float]) -> float:
    """Return the left end of an axis of knowing; the right end is a little beyond 1."""
    return min([-0.15, *(max(value - 0.08, LEAST_KNOWING) for value in values)])


def mindless_knowing(rows: Sequence[ProfileRow]) -> float | None:
    """Return the mean skill of the best predictors that ignore the partner's mind; None if there
    are none."""
    return _mean(r.predictor.skill for r in rows if r.predictor)


def mindless_doing(rows: Sequence[ProfileRow]) -> float | None:
    """Return the mean doing of the best mindless players; None if there are none."""
    return _mean(r.mindless.doing for r in rows if r.mindless)


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None
