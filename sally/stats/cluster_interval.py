"""The 95% interval of every table: over clusters, within the bounds of the measure.

The units are clusters, not episodes: the interval is a t interval with a cluster-robust error
(Liang and Zeger 1986), for a ratio of sums by linearisation. With fewer than five clusters there is
a value but no interval. If a measure is bounded and the t interval would leave the bounds, Wilson's
interval (1927) replaces it, with the number of trials that gives the same error; so no interval
contains impossible values, and an observed 0 or 100 % is not treated as certain. A count is bounded
below only; its interval is the limiting case of Wilson's, the score interval of a Poisson mean.

A share of counts (right answers out of answers) gets the interval of a beta-binomial model instead
if its clusters differ by more than chance or the t interval would leave the bounds: near 0 and 1,
the coverage of a t interval over clusters is as low as .30 (`python -m benchmarks.validity
shares`). The share has Jeffreys' prior (an arcsine law), and so has the correlation within
clusters.

How often a player presses the same key is the squared length of a vector; its interval is that of a
score test over clusters (`squared_length_by_rule`).

If a design fixes groups of clusters (the partners of a study), the groups are strata: differences
between strata are part of the design and not an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sally.stats.columns import Floats, encode_labels, finite, same_length, sums_by
from sally.stats.intervals import FEW, Estimate, without_interval
from sally.stats.special_functions import betaln, stdtrit

Bounds = tuple[float, float]
LEVEL = 0.95
PEOPLE = "participants"  # the name of the unit in which people are clusters
MANY = 100  # clusters, from which on a share has the t interval whatever its clusters are like
FEWER = f"fewer than {FEW} clusters"
SHARES, CORRELATIONS = 201, 48  # points of the grid on which the beta-binomial is integrated

Unit = Sequence[Any] | NDArray[np.integer[Any]]  # the cluster of each row


def coarsest(units: Mapping[str, Unit]) -> str:
    """Return the name of the first kind of cluster that is numerous enough and known for every row,
    else the last kind.

    If the people are known, no finer kind is chosen, however few people there are, because the
    episodes of one person are dependent.
    """
    for name, column in units.items():
        if isinstance(column, range):  # each row is its own cluster
            n_clusters = len(column)
        elif isinstance(column, np.ndarray):
            n_clusters = len(np.unique(column))
        else:
            n_clusters = 0 if None in column or "" in column else len(set(column))
        if n_clusters >= FEW or (n_clusters and name == PEOPLE):
            return name
    return list(units)[-1]


def mean_by_rule(
    values: ArrayLike, clusters: Unit, bounds: Bounds | None = None, strata: Unit | None = None
) -> Estimate:
    """Return a mean over rows with its interval; larger clusters weigh more.

    With `strata` (groups that the design fixed), only differences within strata count as error.
    """
    column = finite(values, "values")
    if strata is not None:
        return _stratified_mean(column, clusters, bounds, strata)
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
    codes, count = encode_labels(clusters, top.size, "clusters")
    total, method = float(bottom.sum()), f"t over {count} clusters"
    if not total:
        return without_interval(None, int(top.size), method, "no values")
    value = float(top.sum()) / total
    if count < FEW:
        return without_interval(value, int(top.size), method, FEWER)
    sums, sizes = sums_by(codes, count, top), sums_by(codes, count, bottom)
    away = sums - value * sizes
    error = math.sqrt(count / (count - 1) * float((away**2).sum())) / abs(total)
    estimate = _around(value, error, count, bounds, int(top.size))
    if bounds is None or count >= MANY or not _counts(top, bottom, bounds):
        return estimate
    hits = (sums - bounds[0] * sizes) / (bounds[1] - bounds[0])
    if total <= (sizes > 0).sum() or (estimate.method.startswith("t") and not _differ(hits, sizes)):
        return (
            estimate  # one trial in each cluster, or clusters that differ no more than chance does
        )
    low, high = (
        bounds[0] + x * (bounds[1] - bounds[0]) for x in beta_binomial_interval(hits, sizes)
    )
    method = f"beta-binomial over {count} clusters"
    return Estimate(value, min(low, value), max(high, value), int(top.size), method)


def _stratified_mean(
    column: Floats, clusters: Unit, bounds: Bounds | None, strata: Unit
) -> Estimate:
    codes, count = encode_labels(clusters, column.size, "clusters")
    groups, n_strata = encode_labels(strata, column.size, "strata")
    nested = len(np.unique(codes * n_strata + groups)) == count  # no cluster lies in two strata
    degrees_lost = n_strata if nested else 1
    n, method = int(column.size), f"t over {count} clusters in {n_strata} strata"
    if not n:
        return without_interval(None, n, method, "no values")
    value = float(column.mean())
    if count - degrees_lost < FEW - 1:
        reason = (
            f"fewer than {FEW - 1 + degrees_lost} clusters in {n_strata} strata"
            if n_strata > 1
            else FEWER
        )
        return without_interval(value, n, method, reason)
    sizes = np.bincount(groups, minlength=n_strata)
    away = column - (np.bincount(groups, column, n_strata) / sizes)[groups]
    error = (
        math.sqrt(count / (count - degrees_lost) * float((sums_by(codes, count, away) ** 2).sum()))
        / n
    )
    estimate = _around(value, error, count, bounds, n, degrees_lost)
    return msgspec.structs.replace(estimate, method=f"{estimate.method} in {n_strata} strata")


def _counts(top: Floats, bottom: Floats, bounds: Bounds) -> bool:
    """Return whether every row is a count of hits out of trials."""
    if math.isinf(bounds[1] - bounds[0]):
        return False
    hits = (top - bounds[0] * bottom) / (bounds[1] - bounds[0])
    is_whole = (
        np.abs(hits - np.rint(hits)).max() < 1e-9 and np.abs(bottom - np.rint(bottom)).max() == 0
    )
    return bool(is_whole and (hits > -1e-9).all() and (hits < bottom + 1e-9).all())


def _differ(hits: Floats, trials: Floats) -> bool:
    """Return whether clusters differ by more than chance: an intraclass correlation above 0."""
    has_trials = trials > 0
    hits, trials = hits[has_trials], trials[has_trials]
    total, count = float(trials.sum()), trials.size
    between = float((trials * (hits / trials - hits.sum() / total) ** 2).sum()) / (count - 1)
    inside = float((hits * (trials - hits) / trials).sum()) / (total - count)
    return between > inside


def beta_binomial_interval(hits: ArrayLike, trials: ArrayLike) -> tuple[float, float]:
    """Return the 95% interval of a share from the hits and trials of each cluster.

    The interval is that of the posterior of the mean of a beta-binomial distribution, with equal
    tails; it begins at 0 if there are no hits and ends at 1 if there are only hits. An arcsine law
    is the prior both of the share and of the correlation within clusters.

    >>> low, high = beta_binomial_interval([0, 0, 0, 1, 9], [10, 10, 10, 10, 10])
    >>> round(low, 2), round(high, 2)
    (0.04, 0.67)
    """
    pairs = np.stack([finite(hits, "hits"), finite(trials, "trials")])
    (right, asked_trials), times = np.unique(pairs, axis=1, return_counts=True)
    total, count = float((asked_trials * times).sum()), int(times.sum())
    share = float((right * times).sum()) / total
    # A share is sin(u pi / 2) ** 2; the prior is even in u. Beyond 8 standard errors, with all
    # trials of a cluster alike, there is nothing to integrate.
    middle, reach = 2 / math.pi * math.asin(math.sqrt(min(share, 1.0))), 8 / math.pi / count**0.5
    edges = np.linspace(max(0.0, middle - reach), min(1.0, middle + reach), SHARES)
    shares = np.sin((edges[1:] + edges[:-1]) * math.pi / 4) ** 2
    alike = np.sin((np.arange(CORRELATIONS) + 0.5) / CORRELATIONS * math.pi / 2) ** 2
    sizes = (1 / alike - 1)[:, None]
    first, second = shares * sizes, (1 - shares) * sizes
    log_density = -float(times.sum()) * betaln(first, second)
    for hit, of, n_times in zip(right, asked_trials, times, strict=True):
        log_density += n_times * betaln(hit + first, of - hit + second)
    density = np.exp(log_density - log_density.max()).sum(axis=0)
    below = np.concatenate([[0.0], np.cumsum(density)])
    ends = np.interp([(1 - LEVEL) / 2, (1 + LEVEL) / 2], below / below[-1], edges)
    low, high = (float(x) for x in np.sin(ends * math.pi / 2) ** 2)
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)


def squared_length_by_rule(
    value: float, parts: Floats, scale: float, bounds: Bounds, n: int
) -> Estimate:
    """Return the squared length of a sum over clusters, divided by `scale`, with its interval.

    For measures of concentration, such as how often a player presses the same key: the vector has
    one component per key, its presses beyond those of a blind player. Near length 0 the estimate is
    skewed and its error depends on the length, so the interval holds all lengths from which the
    estimate is at most t errors away. The covariance of the sum is that of a jackknife over
    clusters.

    Args:
        value: The estimate, without the bias of squaring.
        parts: The vector of each cluster, one row a cluster.
        scale: The squared length that counts as 1.
        bounds: The bounds of the value.
        n: The number of values.
    """
    count, method = len(parts), f"score of a length over {len(parts)} clusters"
    if count < FEW:
        return without_interval(value, n, method, FEWER)
    total = parts.sum(axis=0)
    away = parts - total / count
    covariance = count / (count - 1) * (away.T @ away)
    squares = float((covariance**2).sum())
    length = float(total @ total)
    variance_along = float(total @ covariance @ total) / length if length else 0.0
    error = math.sqrt(4 * max(value * scale, 0.0) * variance_along + 2 * squares) / scale
    if error <= 1e-12 * max(1.0, abs(value)):
        return _around(value, 0.0, count, bounds, n)
    reach = float(stdtrit(count - 1, (1 + LEVEL) / 2))
    shift = 2 * reach**2 * variance_along / scale
    half = math.sqrt(max(shift**2 + 2 * shift * value, 0.0) + 2 * reach**2 * squares / scale**2)
    low, high = value + shift - half, value + shift + half
    if high > bounds[1]:
        return _wilson(value, error, count, reach, bounds, n)
    return Estimate(value, max(min(low, value), bounds[0]), max(high, value), n, method)


def jackknife_by_rule(
    sums: ArrayLike,
    clusters: Sequence[Hashable] | NDArray[np.integer[Any]],
    function: Callable[[Floats], float],
) -> Estimate:
    """Return a function of sums over rows, with the t interval of a jackknife over clusters.

    Args:
        sums: One row of numbers for each row of a table; `function` takes their sums.
        clusters: The cluster of each row.
        function: Returns NaN where it is not defined.
    """
    table = np.asarray(sums, dtype=np.float64)
    codes, count = encode_labels(clusters, len(table), "clusters")
    method = f"jackknife over {count} clusters"
    total = table.sum(axis=0)
    value = function(total)
    if not math.isfinite(value):
        return without_interval(None, len(table), method, "not defined")
    if count < FEW:
        return without_interval(value, len(table), method, FEWER)
    by_cluster = np.stack([sums_by(codes, count, column) for column in table.T], axis=1)
    without_one = np.array([function(total - part) for part in by_cluster])
    if not np.isfinite(without_one).all():
        return without_interval(
            value, len(table), method, "not defined without one of the clusters"
        )
    away = without_one - without_one.mean()
    error = math.sqrt((count - 1) / count * float((away**2).sum()))
    estimate = _around(value, error, count, None, len(table))
    return msgspec.structs.replace(estimate, method=method)


def gap_by_rule(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    bounds: Bounds | None = None,
) -> Estimate:
    """Return the difference of two means; `clusters` lists the first rows, then the second rows."""
    first_values, two = finite(first, "first"), finite(second, "second")
    n = int(first_values.size + two.size)
    codes, count = encode_labels(clusters, n, "clusters")
    method = f"t over {count} clusters"
    if not first_values.size or not two.size:
        return without_interval(None, n, method, "no values on one side")
    value = float(first_values.mean() - two.mean())
    if count < FEW:
        return without_interval(value, n, method, FEWER)
    away = np.concatenate(
        [(first_values - first_values.mean()) / first_values.size, (two.mean() - two) / two.size]
    )
    error = math.sqrt(count / (count - 1) * float((sums_by(codes, count, away) ** 2).sum()))
    return _around(value, error, count, bounds, n)


def _around(
    value: float, error: float, count: int, bounds: Bounds | None, n: int, degrees_lost: int = 1
) -> Estimate:
    """Return the t interval over clusters, or Wilson's if the t interval would leave the bounds.

    `degrees_lost` is the number of degrees of freedom used up by estimated means.
    """
    if error <= 1e-12 * max(1.0, abs(value)):
        error = 0.0  # all clusters agree; the rest is rounding
    reach = float(stdtrit(count - degrees_lost, (1 + LEVEL) / 2))
    low, high = value - reach * error, value + reach * error
    if bounds is None or not (
        low < bounds[0] or high > bounds[1] or (not error and value in bounds)
    ):
        return Estimate(value, low, high, n, f"t over {count} clusters")
    if math.isinf(bounds[1] - bounds[0]):
        return _score_interval(value, error, count, reach, bounds, n)
    return _wilson(value, error, count, reach, bounds, n)


def _wilson(
    value: float, error: float, count: int, reach: float, bounds: Bounds, n: int
) -> Estimate:
    """Return Wilson's interval of a value that lies between two bounds.

    The number of trials is chosen so that a share has the given standard error; at a bound, where
    the error is 0, the number of clusters is used.
    """
    lowest, highest = bounds
    wide = highest - lowest
    share = min(max((value - lowest) / wide, 0.0), 1.0)
    spread = share * (1 - share)
    trials = spread / (error / wide) ** 2 if error and spread else float(count)
    square = reach * reach / trials
    middle = (share + square / 2) / (1 + square)
    half = reach / (1 + square) * math.sqrt(spread / trials + square / (4 * trials))
    low = lowest if share == 0 else lowest + wide * max(0.0, middle - half)
    high = highest if share == 1 else lowest + wide * min(1.0, middle + half)
    method = f"Wilson over {count} clusters"
    return Estimate(value, min(low, value), max(high, value), n, method)


def _score_interval(
    value: float, error: float, count: int, reach: float, bounds: Bounds, n: int
) -> Estimate:
    """Return the score interval of a count, which is bounded on one side only.

    If every cluster is at the bound, the error is 0 and the interval has no width.
    """
    lowest, highest = bounds
    end, direction = (highest, -1) if math.isinf(lowest) else (lowest, 1)
    distance = max(direction * (value - end), 0.0)
    square = (reach * error) ** 2 / distance if distance else 0.0
    half = math.sqrt((reach * error) ** 2 + square**2 / 4)
    near_end = max(distance + square / 2 - half, 0.0)
    low, high = sorted(
        (end + direction * near_end, end + direction * (distance + square / 2 + half))
    )
    method = f"score of a count over {count} clusters"
    return Estimate(value, min(low, value), max(high, value), n, method)


def lone_by_rule(values: ArrayLike, bounds: Bounds | None = None) -> Estimate:
    """Return the mean over independent rows with its interval."""
    column = finite(values, "values")
    return mean_by_rule(column, range(column.size), bounds)
