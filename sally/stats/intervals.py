"""Estimates with intervals: t, Wilson and clustered bootstrap.

A value that cannot be computed is `None`, with the reason in `method`; nothing here returns NaN.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from sally.stats.columns import Codes, Floats, encode_labels, finite, same_length, sums_by, within
from sally.stats.special_functions import ndtr, ndtri, stdtrit

Bootstrap = Literal["percentile", "expanded"]
NAMES = {"percentile": "percentile", "expanded": "expanded percentile"}
Seed = int | np.random.Generator

WHY = "; no interval: "  # precedes the reason in the method of an estimate without interval
FEW = 5  # with fewer clusters, resampling is uninformative and reports use a finer unit

# Draws are made in blocks of about this many numbers, so that memory stays flat.
BLOCK = 2_000_000


class Estimate(msgspec.Struct, frozen=True):
    """A value, its interval, the number of rows it is based on, and its method."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str

    @property
    def interval(self) -> list[float] | None:
        """`[low, high]`, or None if there is no interval."""
        if self.low is None or self.high is None:
            return None
        return [self.low, self.high]


def exact(value: float, n: int = 1, method: str = "exact") -> Estimate:
    """Return a value without sampling error; its interval has zero width.

    >>> exact(3).interval
    [3.0, 3.0]
    """
    return Estimate(float(value), float(value), float(value), n, method)


def without_interval(value: float | None, n: int, method: str, reason: str) -> Estimate:
    """Return an estimate without an interval; its `method` includes the reason."""
    return Estimate(value, None, None, n, f"{method}{WHY}{reason}")


def blank_intervals(estimates: Iterable[tuple[str, Estimate]]) -> list[str]:
    """Return one line for each reason why named values have no interval.

    >>> blank_intervals([("random in rps", without_interval(0.5, 1, "t", "one value"))])
    ['no interval (random in rps): one value']
    """
    reasons: dict[str, dict[str, None]] = {}
    all_names: set[str] = set()
    for name, estimate in estimates:
        all_names.add(name)
        if estimate.value is not None and estimate.interval is None:
            _, separator, reason = estimate.method.partition(WHY)
            if separator:
                reasons.setdefault(reason, {})[name] = None
    if len(reasons) == 1 and len(all_names) > SHOWN:
        ((cause, names),) = reasons.items()
        if len(names) == len(all_names):
            return [f"no interval for any of the {len(all_names)} values: {cause}"]
    return [
        f"no interval ({_first_names(list(names))}): {cause}" for cause, names in reasons.items()
    ]


SHOWN = 4  # names of values without an interval


def _first_names(names: Sequence[str], limit: int = SHOWN) -> str:
    """Return the first `limit` names and the number of further names, as text."""
    n_further = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {n_further} more" if n_further > 0 else "")


def t_estimate(
    value: float, error: float, degrees: float, n: int, level: float, method: str
) -> Estimate:
    """Return the t interval of a value from its standard error and degrees of freedom."""
    half = float(stdtrit(degrees, (1 + level) / 2)) * error
    return Estimate(value, value - half, value + half, n, method)


def widen(
    estimate: Estimate, error: float, degrees: float = math.inf, level: float = 0.95
) -> Estimate:
    """Return the estimate with its interval widened by an independent error (squared errors add
    up).

    >>> widened(Estimate(0.5, 0.2, 0.9, 9, "t"), 0.0).interval
    [0.2, 0.9]
    """
    if estimate.value is None or estimate.low is None or estimate.high is None or not error:
        return estimate
    extra = float(stdtrit(degrees, (1 + level) / 2)) * error
    low = estimate.value - math.hypot(estimate.value - estimate.low, extra)
    high = estimate.value + math.hypot(estimate.high - estimate.value, extra)
    return msgspec.structs.replace(estimate, low=low, high=high)


def mean_interval(values: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean and its t interval; equal values give an interval of zero width."""
    column, method = finite(values, "values"), "t"
    within(level, 0, 1, "level")
    n = column.size
    if n == 0:
        return without_interval(None, 0, method, "no values")
    if n == 1:
        return without_interval(float(column[0]), 1, method, "one value")
    if np.ptp(column) == 0:
        return exact(column[0], n, method)
    error = float(column.std(ddof=1)) / math.sqrt(n)
    return t_estimate(float(column.mean()), error, n - 1, n, level, method)


def share_interval(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    """Return a share and its Wilson (1927) score interval, which needs at least one trial."""
    within(level, 0, 1, "level")
    if not 0 <= successes <= n:
        raise ValueError(f"successes is {successes}; it must lie between 0 and n = {n}.")
    if n == 0:
        return without_interval(None, 0, "Wilson", "no trials")
    share, z = successes / n, float(ndtri((1 + level) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # The end at 0 or 1 is exact; rounding would leave it at 1e-17.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return Estimate(share, low, high, n, "Wilson")


def clustered_ratio_interval(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    seed: Seed,
    resamples: int = 5000,
    level: float = 0.95,
    method: Bootstrap = "percentile",
) -> Estimate:
    """Return a ratio of sums with its clustered bootstrap interval."""
    top, bottom = finite(numerators, "numerators"), finite(denominators, "denominators")
    same_length("numerators", top.size, "denominators", bottom.size)
    codes, count = encode_labels(clusters, top.size, "clusters")
    label = _label(method, resamples, level, count)
    n = top.size
    above, below = sums_by(codes, count, top), sums_by(codes, count, bottom)
    value = float(_ratio(above.sum(), below.sum()))
    if n == 0 or count == 1:
        reason = "no rows" if n == 0 else "one cluster"
        return without_interval(_finite_or_none(value), n, label, reason)
    ends = _ends(level, method, count)
    resampled = [
        _ratio(above[draw].sum(axis=1), below[draw].sum(axis=1))
        for draw in _draws(count, resamples, seed)
    ]
    return _finish(value, np.concatenate(resampled), n, ends, label)


def clustered_mean_interval(
    values: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    seed: Seed,
    resamples: int = 5000,
    level: float = 0.95,
    method: Bootstrap = "percentile",
) -> Estimate:
    """Return a mean over rows with its clustered bootstrap interval; larger clusters weigh more."""
    column = finite(values, "values")
    weights = np.ones_like(column)
    return clustered_ratio_interval(
        column, weights, clusters, seed=seed, resamples=resamples, level=level, method=method
    )


def _label(method: Bootstrap, resamples: int, level: float, clusters: int) -> str:
    within(level, 0, 1, "level")
    if method not in NAMES:
        raise ValueError(f"method is {method!r}; it must be 'percentile' or 'expanded'.")
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; at least one is needed.")
    return f"{NAMES[method]} bootstrap over {clusters} clusters, {resamples} resamples"


def _ends(level: float, method: Bootstrap, units: int) -> Floats:
    """Return the quantiles of the resamples that bound an interval.

    Resamples vary less than samples, especially if there are few units; "expanded" widens the
    quantiles by as much as a t interval would be wider (Hesterberg 2015).
    """
    if method != "expanded":
        return np.array([(1 - level) / 2, (1 + level) / 2])
    reach = math.sqrt(units / (units - 1)) * float(stdtrit(units - 1, (1 + level) / 2))
    return np.array([ndtr(-reach), ndtr(reach)])


def _draws(size: int, resamples: int, seed: Seed) -> Iterator[Codes]:
    """Yield blocks of resamples; each row has `size` indices, drawn with replacement."""
    rng = np.random.default_rng(seed)
    rows = max(1, BLOCK // size)
    for start in range(0, resamples, rows):
        yield rng.integers(size, size=(min(rows, resamples - start), size), dtype=np.intp)


def _ratio(above: Any, below: Any) -> Floats:
    """Return the ratio where it is defined, else NaN; `_finish` counts the NaNs."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    undefined = np.full_like(below, np.nan)
    return np.asarray(np.divide(above, below, out=undefined, where=below != 0))


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _finish(value: float, resampled: Floats, n: int, ends: Floats, label: str) -> Estimate:
    """Return the estimate with the quantiles of its resamples, or the reason why there are none."""
    if not math.isfinite(value):
        return without_interval(None, n, label, "the statistic is undefined on the data")
    undefined = int((~np.isfinite(resampled)).sum())
    if undefined:
        return without_interval(value, n, label, f"undefined in {undefined} resamples")
    if np.ptp(resampled) <= 1e-12 * abs(value):
        return exact(value, n, label)
    low, high = np.quantile(resampled, ends)
    return Estimate(value, float(low), float(high), n, label)
