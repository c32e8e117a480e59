"""Differences between two paired conditions, and between separate groups, with their tests."""

import math
from collections.abc import Hashable, Sequence

import msgspec
import numpy as np
import scipy
from numpy.typing import ArrayLike

from sally.core.errors import BadInput
from sally.stats.columns import Floats, as_pairs, encode_labels, finite, sums_by
from sally.stats.intervals import (
    BLOCK,
    Estimate,
    Seed,
    mean_interval,
    t_estimate,
    without_interval,
)

MEDIUM = 2**-0.5  # scale of the Cauchy prior, the default of the R package BayesFactor
WIDEST = 4.0  # effects beyond this many standard deviations are left out of the integral
POINTS = 801


def paired_difference(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean of first minus second over pairs, with its t interval."""
    first_values, two = as_pairs(first, second)
    return msgspec.structs.replace(
        mean_interval(first_values - two, level=level), method="paired t"
    )


def welch_error(first: Floats, two: Floats) -> tuple[float, float]:
    """Return the standard error and degrees of freedom of a mean difference (Welch 1947)."""
    a, b = first.var(ddof=1) / first.size, two.var(ddof=1) / two.size
    if a + b == 0:
        return 0.0, float(first.size + two.size - 2)
    degrees = (a + b) ** 2 / (a**2 / (first.size - 1) + b**2 / (two.size - 1))
    return math.sqrt(a + b), float(degrees)


def unpaired_difference(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the difference of the means of two separate groups, with Welch's t interval."""
    first_values, two = finite(first, "first"), finite(second, "second")
    n, method = first_values.size + two.size, "Welch t"
    if min(first_values.size, two.size) == 0:
        return without_interval(None, n, method, "an empty group")
    value = float(first_values.mean() - two.mean())
    if min(first_values.size, two.size) == 1:
        return without_interval(value, n, method, "a group of one value")
    error, degrees = welch_error(first_values, two)
    return t_estimate(value, error, degrees, n, level, method)


def sign_flip_test(
    differences: ArrayLike,
    *,
    seed: Seed,
    clusters: Sequence[Hashable] | None = None,
    exact_up_to: int = 18,
    flips: int = 20_000,
) -> float | None:
    """Return the two-sided p value of a mean difference, by flipping the signs of pairs or of whole
    clusters; None if there are no differences.

    Up to `exact_up_to` units, all sign patterns are used; otherwise, `flips` random patterns.
    """
    column = finite(differences, "differences")
    n = column.size
    if n == 0:
        return None
    labels = range(n) if clusters is None else clusters
    codes, count = encode_labels(labels, n, "clusters")
    sums = sums_by(codes, count, column)
    exact = count <= exact_up_to
    totals = _all_totals(sums) if exact else _some_totals(sums, flips, seed)
    # Totals that differ from the observed one by rounding only count as equally extreme.
    slack = 1e-9 * float(np.abs(sums).sum())
    as_extreme = int((np.abs(totals) >= abs(float(sums.sum())) - slack).sum())
    if exact:
        return as_extreme / totals.size
    # The observed signs are one of the draws, so p is never 0 (Phipson and Smyth 2010).
    return (as_extreme + 1) / (flips + 1)


def _all_totals(sums: Floats) -> Floats:
    """Return the totals for all choices of signs in which the first value keeps its sign; the
    remaining totals are the negatives of these."""
    totals = sums[:1]
    for value in sums[1:]:
        totals = np.concatenate([totals + value, totals - value])
    return totals


def _some_totals(sums: Floats, flips: int, seed: Seed) -> Floats:
    rng = np.random.default_rng(seed)
    rows = max(1, BLOCK // sums.size)
    return np.concatenate(
        [  # only the totals of each block are kept, so that memory stays flat
            (rng.integers(0, 2, size=(min(rows, flips - start), sums.size)) * 2.0 - 1.0) @ sums
            for start in range(0, flips, rows)
        ]
    )


def bayes_factor(t: float, first: int, second: int, scale: float = MEDIUM) -> float:
    """Return the Bayes factor of an effect above zero, from the t of two independent groups.

    The prior on the effect is the upper half of a Cauchy distribution (Rouder et al. 2009).

    Raises:
        BadInput: If a group has fewer than two members.
    """
    if min(first, second) < 2:
        raise BadInput(
            f"Each group needs at least two members; the groups have {first} and {second}."
        )
    degrees = first + second - 2
    root = np.sqrt(first * second / (first + second))
    spread = np.linspace(1e-3, 3.0, POINTS)  # the sample's deviation in units of the true one
    weight = scipy.stats.chi2.pdf(degrees * spread**2, degrees) * 2 * degrees * spread**2
    effects = np.linspace(0.0, WIDEST, POINTS)
    shifted = scipy.stats.norm.pdf(t * spread[None, :] - root * effects[:, None])
    density = np.trapezoid(shifted * weight, spread, axis=1)  # the density of t under each effect
    prior = 2 * scipy.stats.cauchy.pdf(effects, 0.0, scale)
    return float(np.trapezoid(density * prior, effects) / density[0])
