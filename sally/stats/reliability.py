"""Reliability of scores: consistency over problems, split halves and correlations.

A table has a row for each player and a column for each problem that all players met. Differences
in difficulty are not an error, so they are removed (a two-way analysis of variance; Cronbach et al.
1972, McGraw and Wong 1996, ICC(C, k)).
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sally.stats.intervals import Estimate, Seed, without_interval
from sally.stats.special_functions import ndtri

Floats = NDArray[np.float64]
LEVEL = 0.95
SPLITS = 400


class Components(msgspec.Struct, frozen=True):
    """Variance components of one score; negative estimates are set to zero."""

    players: float
    problems: float
    rest: float  # interaction and chance: the error of one score
    ratio: float | None  # F, of players over the rest; None if nothing varies
    n: tuple[int, int]  # players, problems

    @property
    def single(self) -> float | None:
        """The reliability of one score."""
        return _share(self.players, self.rest)

    @property
    def error(self) -> float:
        """The standard error of measurement of a mean over these problems."""
        return math.sqrt(self.rest / self.n[1])


def components(table: ArrayLike) -> Components:
    """Return the two-way analysis of variance of a complete table with one score in each cell."""
    scores = as_complete_table(table)
    players, problems = scores.shape
    mean = scores.mean()
    rows, columns = scores.mean(axis=1), scores.mean(axis=0)
    residuals = scores - rows[:, None] - columns[None, :] + mean
    freedom = (players - 1) * (problems - 1)
    error_variance = float((residuals**2).sum()) / freedom
    by_player = problems * float(rows.var(ddof=1))
    by_problem = players * float(columns.var(ddof=1))
    small = 1e-12 * max(1.0, float(np.abs(scores).max()) ** 2)
    error_variance = 0.0 if error_variance < small else error_variance
    by_player = 0.0 if by_player < small else by_player
    ratio = (
        None if not by_player else math.inf if not error_variance else by_player / error_variance
    )
    return Components(
        max(0.0, (by_player - error_variance) / problems),
        max(0.0, (by_problem - error_variance) / players),
        error_variance,
        ratio,
        (players, problems),
    )


def as_complete_table(table: ArrayLike) -> Floats:
    """Return the table as an array.

    Raises:
        ValueError: If the table has fewer than two players or problems, or a cell is empty.
    """
    scores = np.asarray(table, dtype=float)
    if scores.ndim != 2 or min(scores.shape) < 2 or not np.isfinite(scores).all():
        raise ValueError("a table needs at least two players and two problems, and no empty cell.")
    return scores


def consistency(table: ArrayLike) -> Estimate:
    """Return the reliability of a mean over these problems, with an interval that is exact if
    scores are normally distributed.

    The reliability is Cronbach's alpha, which equals the mean of all corrected split-half
    reliabilities; values below 0 are set to 0. The interval is that of Feldt (1965).
    """
    parts = components(table)
    players, problems = parts.n
    method = f"F({players - 1}, {(players - 1) * (problems - 1)})"
    if parts.ratio is None:
        return without_interval(None, players, method, "the players do not differ")
    if math.isinf(parts.ratio):
        return without_interval(1.0, players, method, "nothing is left to chance")
    freedom = (players - 1, (players - 1) * (problems - 1))
    low, high = (
        max(0.0, 1 - float(scipy.stats.f.ppf(p, *freedom)) / parts.ratio)
        for p in ((1 + LEVEL) / 2, (1 - LEVEL) / 2)
    )
    return Estimate(max(0.0, 1 - 1 / parts.ratio), low, high, players, method)


def split_half(table: ArrayLike, *, seed: Seed, splits: int = SPLITS) -> float | None:
    """Return the mean correlation of random halves of the problems, corrected by Spearman-Brown.

    A negative mean correlation gives 0.
    """
    scores = as_complete_table(table)
    rng = np.random.default_rng(seed)
    half, correlations = scores.shape[1] // 2, []
    for _ in range(splits):
        order = rng.permutation(scores.shape[1])
        first_half, two = scores[:, order[:half]], scores[:, order[half : 2 * half]]
        r = pearson(first_half.mean(axis=1), two.mean(axis=1))
        if r is not None:
            correlations.append(r)
    if not correlations:
        return None
    mean = sum(correlations) / len(correlations)
    return 2 * mean / (1 + mean) if mean > 0 else 0.0


def pearson(first: ArrayLike, two: ArrayLike) -> float | None:
    """Return the correlation of two columns; None if one of them does not vary."""
    a, b = np.asarray(first, float), np.asarray(two, float)
    if a.size < 3 or np.ptp(a) < 1e-12 or np.ptp(b) < 1e-12:
        return None
    a, b = a - a.mean(), b - b.mean()  # faster than corrcoef, which resampling calls often
    return float(np.clip(a @ b / math.sqrt((a @ a) * (b @ b)), -1, 1))


def correlation(first: ArrayLike, two: ArrayLike) -> Estimate:
    """Return a correlation with Fisher's interval, which needs at least four pairs."""
    n, r, method = np.asarray(first).size, pearson(first, two), "Fisher z"
    if r is None:
        return without_interval(None, n, method, "fewer than three players, or no difference")
    if n < 4 or abs(r) == 1:
        return without_interval(r, n, method, "too few players")
    reach = float(ndtri((1 + LEVEL) / 2)) / math.sqrt(n - 3)
    return Estimate(
        r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach), n, method
    )


def scores_needed(single: float | None, target: float = 0.8) -> int | None:
    """Return how many scores a mean needs for a target reliability (Spearman 1910, Brown 1910)."""
    if not 0 < target < 1:
        raise ValueError(f"target is {target}; it must lie strictly between 0 and 1.")
    if single is None or single <= 0:
        return None
    return max(1, math.ceil(target * (1 - single) / (single * (1 - target)) - 1e-9))


def _share(signal: float, noise: float) -> float | None:
    return signal / (signal + noise) if signal + noise > 0 else None
