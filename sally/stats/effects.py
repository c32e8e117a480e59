"""Effect sizes; None if the data do not define one."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from sally.stats.columns import finite, paired, within
from sally.stats.intervals import Estimate, without_interval


def cohens_d(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the difference of two groups' means in pooled standard deviations."""
    one, two = finite(first, "first"), finite(second, "second")
    degrees = one.size + two.size - 2
    if min(one.size, two.size) == 0 or degrees < 1:
        return None
    within_groups = ((one - one.mean()) ** 2).sum() + ((two - two.mean()) ** 2).sum()
    pooled = math.sqrt(within_groups / degrees)
    return float(one.mean() - two.mean()) / pooled if pooled > 0 else None


def hedges_g(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Cohen's d without its small-sample bias, by the exact factor of Hedges (1981)."""
    d = cohens_d(first, second)
    if d is None:
        return None
    half = (np.size(first) + np.size(second) - 2) / 2
    if half <= 0.5:  # One degree of freedom: the expectation of d does not exist.
        return None
    return d * math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(half)


def cohens_dz(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the mean paired difference in standard deviations of the differences."""
    one, two = paired(first, second)
    away = one - two
    if away.size < 2 or np.ptp(away) == 0:
        return None
    return float(away.mean() / away.std(ddof=1))


def cliffs_delta(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the share of pairs in which the first is larger minus that in which it is smaller."""
    one, two = finite(first, "first"), np.sort(finite(second, "second"))
    if one.size == 0 or two.size == 0:
        return None
    above = np.searchsorted(two, one, side="left").sum()
    below = (two.size - np.searchsorted(two, one, side="right")).sum()
    return float(above - below) / (one.size * two.size)


def odds_ratio(
    successes: int,
    n: int,
    other_successes: int,
    other_n: int,
    *,
    correction: float = 0.0,
    level: float = 0.95,
) -> Estimate:
    """Return the odds ratio of two shares, with Woolf's (1955) interval.

    With an empty cell there is no interval; `correction=0.5` adds a half to each cell
    (Haldane-Anscombe).
    """
    within(level, 0, 1, "level")
    for name, hits, of in (
        ("successes", successes, n),
        ("other_successes", other_successes, other_n),
    ):
        if not 0 <= hits <= of:
            raise ValueError(f"{name} is {hits}; it must lie between 0 and its n = {of}.")
    cells = [successes, n - successes, other_successes, other_n - other_successes]
    a, b, c, d = (cell + correction for cell in cells)
    total, method = n + other_n, "Woolf" + (f", {correction} added" if correction else "")
    if b * c == 0:
        return without_interval(None, total, method, "an empty cell in the denominator")
    ratio = a * d / (b * c)
    if ratio == 0:
        return without_interval(0.0, total, method, "an empty cell in the numerator")
    z = float(scipy.special.ndtri((1 + level) / 2))
    half = z * math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    middle = math.log(ratio)
    return Estimate(ratio, math.exp(middle - half), math.exp(middle + half), total, method)
