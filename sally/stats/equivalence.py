"""Equivalence tests: whether a difference lies within bounds, by two one-sided tests."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sally.stats.columns import finite
from sally.stats.special_functions import ndtr, stdtr


def equivalence_p(
    difference: float, error: float, degrees: float, bounds: tuple[float, float]
) -> float:
    """Return the larger p value of two one-sided t tests (Schuirmann 1987); infinite degrees of
    freedom give z tests."""
    low, high = bounds
    if not low < high:
        raise ValueError(f"bounds are {bounds!r}; they must be (low, high) with low < high.")
    if error < 0 or not math.isfinite(error):
        raise ValueError(f"error is {error}; a standard error must be finite and at least 0.")
    margins = (difference - low, high - difference)
    return max(_one_sided(margin, error, degrees) for margin in margins)


def paired_equivalence_p(differences: ArrayLike, bounds: tuple[float, float]) -> float | None:
    """Return the p value of the test whether the mean of paired differences lies within the
    bounds; None for fewer than two pairs."""
    away = finite(differences, "differences")
    if away.size < 2:
        return None
    error = float(away.std(ddof=1)) / math.sqrt(away.size) if np.ptp(away) > 0 else 0.0
    return equivalence_p(float(away.mean()), error, away.size - 1, bounds)


def _one_sided(margin: float, error: float, degrees: float) -> float:
    """Return the one-sided p value: the probability of an estimate at least this far inside a bound
    if the true value lies on it."""
    if error == 0:
        return 0.0 if margin > 0 else 1.0
    if math.isinf(degrees):
        return float(ndtr(-margin / error))
    return float(stdtr(degrees, -margin / error))
