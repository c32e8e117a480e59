"""The 95% interval of every table: a t interval over clusters, within the bounds of the measure.

Clusters count, not episodes: a t interval with a cluster-robust error (Liang and Zeger 1986), for a
ratio of sums by linearisation. Below five clusters there is a value and no interval. If a measure
is bounded and the t interval would leave the bounds, Wilson's interval (1927) replaces it, with
the number of trials that gives the same error; so no interval holds impossible values, and 0 or
100 % is not taken for certain. A count has one bound; its interval is the limit of Wilson's, the
score interval of a Poisson mean.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sally.stats.columns import coded, finite, same_length, sums_by
from sally.stats.intervals import FEW, Estimate, without_interval

Bounds = tuple[float, float]
LEVEL = 0.95
PEOPLE = "participants"  # the name of the unit in which people are clusters

Unit = Sequence[Any] | NDArray[np.integer[Any]]  # the cluster of each row


def coarsest(units: Mapping[str, Unit]) -> str:
    """Return the first unit that has enough clusters and is known for every row, else the last.

    People are never split: the episodes of one person are dependent, however few people there are.
    """
    for name, column in units.items():
        if isinstance(column, range):  # each row is its own cluster
            many = len(column)
        elif isinstance(column, np.ndarray):
            many = len(np.unique(column))
        else:
            many = 0 if None in column or "" in column else len(set(column))
        if many >= FEW or (many and name == PEOPLE):
            return name
    return list(units)[-1]


def mean_by_rule(values: ArrayLike, clusters: Unit, bounds: Bounds | None = None) -> Estimate:
    """Return a mean over rows with its interval; larger clusters weigh more."""
    column = finite(values, "values")
    return ratio_by_rule(column, np.ones_like(column), clusters, bounds)


def ratio_by_rule(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: Sequence[Hashable] | NDArray[np.integer[Any]],
    bounds: Bounds | None = None,
) -> Estimate:
    """Return a ratio of sums with its interval."""
    top, bottom = finite(numerators, "numerators"), finite(denominators, "denominators")
    same_length("numerators", top.size, "denominators", bottom.size)
    codes, count = coded(clusters, top.size, "clusters")
    whole, method = float(bottom.sum()), f"t over {count} clusters"
    if not whole:
        return without_interval(None, int(top.size), method, "no values")
    value = float(top.sum()) / whole
    if count < FEW:
        return without_interval(value, int(top.size), method, f"fewer than {FEW} clusters")
    away = sums_by(codes, count, top) - value * sums_by(codes, count, bottom)
    error = math.sqrt(count / (count - 1) * float((away**2).sum())) / abs(whole)
    return _around(value, error, count, bounds, int(top.size))


def gap_by_rule(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    bounds: Bounds | None = None,
) -> Estimate:
    """Return the difference of two means; clusters label the first rows, then the second."""
    one, two = finite(first, "first"), finite(second, "second")
    n = int(one.size + two.size)
    codes, count = coded(clusters, n, "clusters")
    method = f"t over {count} clusters"
    if not one.size or not two.size:
        return without_interval(None, n, method, "no values on one side")
    value = float(one.mean() - two.mean())
    if count < FEW:
        return without_interval(value, n, method, f"fewer than {FEW} clusters")
    away = np.concatenate([(one - one.mean()) / one.size, (two.mean() - two) / two.size])
    error = math.sqrt(count / (count - 1) * float((sums_by(codes, count, away) ** 2).sum()))
    return _around(value, error, count, bounds, n)


def _around(value: float, error: float, count: int, bounds: Bounds | None, n: int) -> Estimate:
    """Return the t interval over clusters, or Wilson's if that would leave the bounds."""
    if error <= 1e-12 * max(1.0, abs(value)):
        error = 0.0  # all clusters agree; the rest is rounding
    reach = float(scipy.special.stdtrit(count - 1, (1 + LEVEL) / 2))
    low, high = value - reach * error, value + reach * error
    if bounds is None or not (
        low < bounds[0] or high > bounds[1] or (not error and value in bounds)
    ):
        return Estimate(value, low, high, n, f"t over {count} clusters")
    if math.isinf(bounds[1] - bounds[0]):
        return _counted(value, error, count, reach, bounds, n)
    return _wilson(value, error, count, reach, bounds, n)


def _wilson(
    value: float, error: float, count: int, reach: float, bounds: Bounds, n: int
) -> Estimate:
    """Return Wilson's interval on the scale between two bounds.

    The number of trials is the one that gives a share this error; at a bound itself, where the
    error is 0, it is the number of clusters.
    """
    least, most = bounds
    wide = most - least
    share = min(max((value - least) / wide, 0.0), 1.0)
    spread = share * (1 - share)
    trials = spread / (error / wide) ** 2 if error and spread else float(count)
    square = reach * reach / trials
    middle = (share + square / 2) / (1 + square)
    half = reach / (1 + square) * math.sqrt(spread / trials + square / (4 * trials))
    low = least if share == 0 else least + wide * max(0.0, middle - half)
    high = most if share == 1 else least + wide * min(1.0, middle + half)
    method = f"Wilson over {count} clusters"
    return Estimate(value, min(low, value), max(high, value), n, method)


def _counted(
    value: float, error: float, count: int, reach: float, bounds: Bounds, n: int
) -> Estimate:
    """Return the score interval of a count, which has one bound.

    If every cluster is at the bound, the error is 0 and the interval has no width.
    """
    least, most = bounds
    end, way = (most, -1) if math.isinf(least) else (least, 1)
    far = max(way * (value - end), 0.0)
    square = (reach * error) ** 2 / far if far else 0.0
    half = math.sqrt((reach * error) ** 2 + square**2 / 4)
    near = max(far + square / 2 - half, 0.0)
    low, high = sorted((end + way * near, end + way * (far + square / 2 + half)))
    method = f"score of a count over {count} clusters"
    return Estimate(value, min(low, value), max(high, value), n, method)


def lone_by_rule(values: ArrayLike, bounds: Bounds | None = None) -> Estimate:
    """Return a mean over independent rows with its interval."""
    column = finite(values, "values")
    return mean_by_rule(column, range(column.size), bounds)
