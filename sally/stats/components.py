"""Variance components of crossed random factors, by the method of moments.

Sums of squares of level sums are equated to their expectations (MIVQUE(0): Hartley, Rao and
LaMotte 1978), which needs no balanced design and no iteration. Intervals are generalised confidence
intervals (Tsui and Weerahandi 1989; Weerahandi 1995): the mean square of a factor with k levels has
k - 1 degrees of freedom, so few levels give wide intervals, where a bootstrap from the fitted
variances would give narrow ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sally.stats.columns import encode_labels, finite
from sally.stats.intervals import Estimate, Seed, without_interval

Floats = NDArray[np.float64]
REST = "rest"
DRAWS = 4000


class Shares(msgspec.Struct, frozen=True):
    """Variances by factor, and their shares of the total."""

    variances: dict[str, float]
    shares: dict[str, Estimate]
    levels: dict[str, int]
    n: int
    same: dict[str, str] = {}  # factors that group the rows exactly like another, and that one


def variance_components(
    values: ArrayLike,
    factors: Mapping[str, Sequence[Hashable] | NDArray[np.integer[Any]]],
    *,
    seed: Seed,
    draws: int = DRAWS,
) -> Shares:
    """Return the variance of each factor with several levels, and the residual variance."""
    column = finite(values, "values")
    codes: dict[str, NDArray[np.intp]] = {}
    levels: dict[str, int] = {}
    twins: dict[str, str] = {}
    for name, labels in factors.items():
        code, count = encode_labels(labels, column.size, name)
        if not 1 < count < column.size:
            continue
        if (twin := _alike(code, count, codes, levels)) is not None:
            twins[name] = twin
        else:
            codes[name], levels[name] = code, count
    fit = _Fit(list(codes.values()), list(levels.values()), column.size)
    raw = fit.solve(column)
    variances_found = np.maximum(raw, 0.0)
    names = [*codes, REST]
    total = float(variances_found.sum())
    if column.size < 3 or total <= 0:
        none = {n: without_interval(None, column.size, "moments", "no variance") for n in names}
        return Shares(dict.fromkeys(names, 0.0), none, levels, column.size, twins)
    drawn_shares = _draw_shares(fit, raw, seed, draws)
    shares = {}
    for place, name in enumerate(names):
        value = float(variances_found[place]) / total
        low, high = np.quantile(drawn_shares[:, place], [0.025, 0.975])
        method = f"moments, generalised interval from {draws} draws"
        shares[name] = Estimate(
            value, min(float(low), value), max(float(high), value), column.size, method
        )
    variances = {name: float(v) for name, v in zip(names, variances_found, strict=True)}
    return Shares(variances, shares, levels, column.size, twins)


def _alike(
    code: NDArray[np.intp],
    count: int,
    codes: Mapping[str, NDArray[np.intp]],
    levels: Mapping[str, int],
) -> str | None:
    """Return an earlier factor that groups the rows in the same way, or None."""
    for name, other_code in codes.items():
        if levels[name] == count and np.unique(other_code * count + code).size == count:
            return name
    return None


class _Fit:
    """The moment equations of one design."""

    def __init__(self, codes: list[NDArray[np.intp]], levels: list[int], n: int) -> None:
        self.codes, self.levels, self.n = codes, levels, n
        sizes = [
            np.bincount(c, minlength=k).astype(float) for c, k in zip(codes, levels, strict=True)
        ]
        rows = [s[c] for s, c in zip(sizes, codes, strict=True)] + [np.ones(n)]
        squares = [float((s**2).sum()) for s in sizes] + [float(n)]
        count = len(rows)
        self.matrix = np.zeros((count, count))
        for i in range(count):
            for j in range(count):
                trace = self._trace_of_product(i, j)
                ends = 2 * float(rows[i] @ rows[j]) / n
                self.matrix[i, j] = trace - ends + squares[i] * squares[j] / n**2

    def _trace_of_product(self, i: int, j: int) -> float:
        """Return the trace of the product of two factors' matrices: the sum of squared cell
        counts."""
        last = len(self.codes)
        if i == last or j == last:
            return float(self.n)
        joint_code = self.codes[i] * self.levels[j] + self.codes[j]
        _, counts = np.unique(joint_code, return_counts=True)
        return float((counts.astype(float) ** 2).sum())

    def solve(self, values: Floats) -> Floats:
        """Return the variances that solve the equations; they may be below zero."""
        away = values - values.mean()
        sums = [np.bincount(c, away, k) for c, k in zip(self.codes, self.levels, strict=True)]
        squares = np.array([float(s @ s) for s in sums] + [float(away @ away)])
        solved = np.linalg.lstsq(self.matrix, squares, rcond=None)[0]
        return np.asarray(solved, dtype=np.float64)


def _draw_shares(fit: _Fit, raw: Floats, seed: Seed, draws: int) -> Floats:
    """Return random draws of each factor's share of the variance, for generalised confidence
    intervals.

    Each mean square is multiplied by its degrees of freedom and divided by a draw from the
    chi-squared distribution with these degrees of freedom.
    """
    rng = np.random.default_rng(seed)
    freedom = np.array([k - 1 for k in fit.levels], dtype=float)
    residual_degrees = max(1.0, fit.n - 1 - freedom.sum())
    residual = max(float(raw[-1]), 0.0)
    sizes = np.array(
        [
            (fit.n - float((np.bincount(c, minlength=k) ** 2).sum()) / fit.n) / (k - 1)
            for c, k in zip(fit.codes, fit.levels, strict=True)
        ]
    )  # rows in a level, as the expected mean square counts them
    squares = np.maximum(sizes * raw[:-1] + residual, 0.0)
    draws_of_variance = np.zeros((draws, raw.size))
    draws_of_variance[:, -1] = residual * residual_degrees / rng.chisquare(residual_degrees, draws)
    for place, df in enumerate(freedom):
        square = squares[place] * df / rng.chisquare(df, draws)
        draws_of_variance[:, place] = np.maximum(
            0.0, (square - draws_of_variance[:, -1]) / sizes[place]
        )
    total = draws_of_variance.sum(axis=1, keepdims=True)
    return np.asarray(
        np.divide(draws_of_variance, total, out=np.zeros_like(draws_of_variance), where=total > 0)
    )
