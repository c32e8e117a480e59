"""Equivalence tests: whether a difference lies within bounds, by two one-sided tests."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import scipy
from numpy.typing import ArrayLike

from sally.stats.columns import paired, within
from sally.stats.intervals import Estimate, t_estimate, without_interval


class Equivalence(msgspec.Struct, frozen=True):
    """A difference with its (1 - 2 alpha) interval, both one-sided p values and the verdict."""

    difference: Estimate
    bounds: list[float]
    p_above_low: float | None
    p_below_high: float | None
    p: float | None
    equivalent: bool | None


def equivalence_test(
    difference: float,
    error: float,
    degrees: float,
    bounds: Sequence[float],
    *,
    n: int,
    alpha: float = 0.05,
    method: str = "t",
) -> Equivalence:
    """Run two one-sided t tests (Schuirmann 1987); infinite degrees of freedom give z tests."""
    low, high = _bounds(bounds)
    within(alpha, 0, 0.5, "alpha")
    if error < 0 or not math.isfinite(error):
        raise ValueError(f"error is {error}; a standard error must be finite and at least 0.")
    estimate = t_estimate(difference, error, degrees, n, 1 - 2 * alpha, method)
    above = _one_sided(difference - low, error, degrees)
    below = _one_sided(high - difference, error, degrees)
    p = max(above, below)
    return Equivalence(estimate, [low, high], above, below, p, p < alpha)


def paired_equivalence(
    first: ArrayLike, second: ArrayLike, bounds: Sequence[float], *, alpha: float = 0.05
) -> Equivalence:
    """Test whether the mean of first minus second over pairs is within the bounds."""
    one, two = paired(first, second)
    away = one - two
    if away.size < 2:
        return _undecided(away.size, bounds, "paired t", "fewer than two pairs")
    error = float(away.std(ddof=1)) / math.sqrt(away.size) if np.ptp(away) > 0 else 0.0
    return equivalence_test(
        float(away.mean()),
        error,
        away.size - 1,
        bounds,
        n=away.size,
        alpha=alpha,
        method="paired t",
    )


def _bounds(bounds: Sequence[float]) -> tuple[float, float]:
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise ValueError(f"bounds are {bounds!r}; they must be [low, high] with low < high.")
    return bounds[0], bounds[1]


def _one_sided(margin: float, error: float, degrees: float) -> float:
    """Return the one-sided p value: the probability of an estimate at least this far inside a bound
    if the true difference were at the bound."""
    if error == 0:
        return 0.0 if margin > 0 else 1.0
    if math.isinf(degrees):
        return float(scipy.special.ndtr(-margin / error))
    return float(scipy.special.stdtr(degrees, -margin / error))


def _undecided(
    n: int, bounds: Sequence[float], method: str, reason: str, value: float | None = None
) -> Equivalence:
    low, high = _bounds(bounds)
    estimate = without_interval(value, n, method, reason)
    return Equivalence(estimate, [low, high], None, None, None, None)
