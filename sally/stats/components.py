"""Variance components of crossed random factors, by the method of moments.

Sums of squares of level sums are equated to their expectations (MIVQUE(0): Hartley, Rao and
LaMotte 1978), which needs no balanced design and no iteration. Intervals come from a parametric
bootstrap: scores drawn from the fitted variances.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sally.stats.columns import coded, finite
from sally.stats.intervals import Estimate, Seed, without_interval

Floats = NDArray[np.float64]
REST = "rest"
DRAWS = 300


class Shares(msgspec.Struct, frozen=True):
    """Variances by factor, and their shares of the total."""

    variances: dict[str, float]
    shares: dict[str, Estimate]
    levels: dict[str, int]
    n: int
    same: dict[str, str] = {}  # factors that group the rows exactly like another, and that one


def variance_components(
    values: ArrayLike,
    factors: Mapping[str, Sequence[Hashable]],
    *,
    seed: Seed,
    draws: int = DRAWS,
) -> Shares:
    """Return the variance of each factor with several levels, and the residual variance."""
    column = finite(values, "values")
    codes: dict[str, NDArray[np.intp]] = {}
    levels: dict[str, int] = {}
    same: dict[str, str] = {}
    for name, labels in factors.items():
        code, count = coded(labels, column.size, name)
        if not 1 < count < column.size:
            continue
        if (twin := _alike(code, count, codes, levels)) is not None:
            same[name] = twin
        else:
            codes[name], levels[name] = code, count
    fit = _Fit(list(codes.values()), list(levels.values()), column.size)
    found = fit.variances(column)
    names = [*codes, REST]
    total = float(found.sum())
    if column.size < 3 or total <= 0:
        none = {n: without_interval(None, column.size, "moments", "no variance") for n in names}
        return Shares(dict.fromkeys(names, 0.0), none, levels, column.size, same)
    again = _drawn(fit, found, seed, draws)
    shares = {}
    for place, name in enumerate(names):
        value = float(found[place]) / total
        low, high = np.quantile(again[:, place], [0.025, 0.975])
        method = f"moments, {draws} parametric bootstraps"
        shares[name] = Estimate(
            value, min(float(low), value), max(float(high), value), column.size, method
        )
    variances = {name: float(v) for name, v in zip(names, found, strict=True)}
    return Shares(variances, shares, levels, column.size, same)


def _alike(
    code: NDArray[np.intp],
    count: int,
    codes: Mapping[str, NDArray[np.intp]],
    levels: Mapping[str, int],
) -> str | None:
    """Return an earlier factor that groups the rows in the same way, or None."""
    for name, other in codes.items():
        if levels[name] == count and np.unique(other * count + code).size == count:
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
                whole = self._crossed(i, j)
                ends = 2 * float(rows[i] @ rows[j]) / n
                self.matrix[i, j] = whole - ends + squares[i] * squares[j] / n**2

    def _crossed(self, i: int, j: int) -> float:
        """Return the trace of the product of two factors' matrices: squared counts of cells."""
        last = len(self.codes)
        if i == last or j == last:
            return float(self.n)
        both = self.codes[i] * self.levels[j] + self.codes[j]
        _, counts = np.unique(both, return_counts=True)
        return float((counts.astype(float) ** 2).sum())

    def variances(self, values: Floats) -> Floats:
        """Return the variances, each at least zero."""
        away = values - values.mean()
        sums = [np.bincount(c, away, k) for c, k in zip(self.codes, self.levels, strict=True)]
        squares = np.array([float(s @ s) for s in sums] + [float(away @ away)])
        solved = np.linalg.lstsq(self.matrix, squares, rcond=None)[0]
        return np.maximum(np.asarray(solved, dtype=np.float64), 0.0)


def _drawn(fit: _Fit, found: Floats, seed: Seed, draws: int) -> Floats:
    """Return the shares of variance in scores drawn from the fitted variances."""
    rng, sds = np.random.default_rng(seed), np.sqrt(found)
    shares = np.zeros((draws, found.size))
    for n in range(draws):
        values = rng.normal(0, sds[-1], fit.n)
        for code, count, sd in zip(fit.codes, fit.levels, sds, strict=False):
            values = values + rng.normal(0, sd, count)[code]
        again = fit.variances(values)
        shares[n] = again / again.sum() if again.sum() else 0.0
    return shares
