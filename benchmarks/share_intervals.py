"""Coverage of the 95% interval of a share in clusters, by the rule in use and by others.

Run `python -m benchmarks.validity shares [RUNS]`. Cells: 5, 8 and 20 clusters of 10 and 40 trials,
intraclass correlations 0, .1 and .4, shares .02 to .5. For each rule the command prints the lowest
and highest coverage, the number of cells within .93 to .97, the largest and the mean distance from
that range, and the mean width. Then it prints every cell for the rule in use
(`sally.stats.cluster_interval`): t where the clusters differ no more than chance and the interval
is within 0 to 1, otherwise a beta-binomial posterior. Rules are computed on a grid for all runs at
once; `tests/stats/test_share_intervals.py` compares the rule in use with the product's own code.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray

from sally.stats.columns import Floats

Ints = NDArray[np.int64]
SHARES, CORRELATIONS, CLUSTERS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5), (0.0, 0.1, 0.4), (5, 8, 20)
SIZES = (10, 40)  # trials of a cluster
AIM = (0.93, 0.97)  # coverage of a 95% interval
IN_USE = "t, else arcsine, arcsine"
GRID, LEVELS = 160, 24  # points of the share and of the correlation, even on the arcsine scale
EDGES = np.linspace(0, 1, GRID + 1)
POINTS = np.sin((EDGES[1:] + EDGES[:-1]) * math.pi / 4) ** 2
ALIKE = np.sin((np.arange(LEVELS) + 0.5) / LEVELS * math.pi / 2) ** 2
PRIORS = {  # beta laws of the correlation (two numbers) and of the share (one number, symmetric)
    "arcsine, arcsine": (0.5, 0.5, 0.5),
    "arcsine, Beta(.6, .6)": (0.5, 0.5, 0.6),
    "Beta(.5, 1), arcsine": (0.5, 1.0, 0.5),
    "Beta(.2, 1), arcsine": (0.2, 1.0, 0.5),
    "even, arcsine": (1.0, 1.0, 0.5),
    "Beta(1, 3), arcsine": (1.0, 3.0, 0.5),
}


def hits_by_cluster(
    rng: np.random.Generator, count: int, size: int, share: float, icc: float, runs: int
) -> Ints:
    """Return the hits of each cluster of `size` trials, in one row for each run."""
    if not icc:
        return rng.binomial(size, share, (runs, count))
    alike = 1 / icc - 1
    return rng.binomial(size, rng.beta(share * alike, (1 - share) * alike, (runs, count)))


def likelihoods(size: int) -> Floats:
    """Return the log likelihood of 0 to `size` hits of one cluster over the grid."""
    alike = (1 / ALIKE - 1)[:, None]
    first, second = POINTS * alike, (1 - POINTS) * alike
    hits = np.arange(size + 1)[:, None, None]
    log_beta = scipy.special.betaln(hits + first, size - hits + second)
    return np.asarray(log_beta - scipy.special.betaln(first, second))


def intervals(hits: Ints, size: int, log_likelihoods: Floats) -> dict[str, Floats]:
    """Return the lower and upper ends by every rule, one row for each row of `hits`."""
    count = hits.shape[1]
    total, trials, rates = hits.sum(axis=1), count * size, hits / size
    mean = rates.mean(axis=1)
    error = rates.std(axis=1, ddof=1) / math.sqrt(count)
    reach = float(scipy.special.stdtrit(count - 1, 0.975))

    def to_shares(ends: Floats) -> Floats:
        shares = np.sin(ends * math.pi / 2) ** 2
        shares[total == 0, 0], shares[total == trials, 1] = 0, 1
        return np.asarray(shares)

    by_t = np.stack([mean - reach * error, mean + reach * error], axis=1)
    between = size * ((rates - mean[:, None]) ** 2).sum(axis=1) / (count - 1)
    inside = (hits * (size - hits) / size).sum(axis=1) / (trials - count)
    usable = (error > 0) & (by_t[:, 0] >= 0) & (by_t[:, 1] <= 1) & (between <= inside)
    ends_by_rule = {"t": by_t}
    spread = between + (size - 1) * inside
    alike = np.maximum(0, np.divide(between - inside, spread, out=np.zeros_like(spread),
                                    where=spread > 0))  # fmt: skip
    square = reach**2 * (1 + (size - 1) * alike) / trials
    half = np.sqrt(square * mean * (1 - mean) + square**2 / 4)
    ends = np.stack([mean + square / 2 - half, mean + square / 2 + half], axis=1)
    ends_by_rule["Wilson, effective n"] = ends / (1 + square[:, None])
    profile = log_likelihoods.max(axis=1)
    away = 2 * (profile.max(axis=1, keepdims=True) - profile)
    for name, bound in (("chi square", 3.841), ("F", reach**2)):
        is_inside = away <= bound
        ends = np.stack(
            [EDGES[is_inside.argmax(axis=1)], EDGES[GRID - is_inside[:, ::-1].argmax(axis=1)]]
        )
        ends_by_rule[f"profile likelihood, {name}"] = to_shares(ends.T)
    for name, (first_shape, second_shape, share) in PRIORS.items():
        prior = (first_shape - 0.5) * np.log(ALIKE)[:, None] + (second_shape - 0.5) * np.log1p(
            -ALIKE
        )[:, None]
        prior = prior + (share - 0.5) * (np.log(POINTS) + np.log1p(-POINTS))
        density = np.exp(
            log_likelihoods + prior - (log_likelihoods + prior).max(axis=(1, 2), keepdims=True)
        )
        below = np.cumsum(np.pad(density.sum(axis=1), ((0, 0), (1, 0))), axis=1)
        below /= below[:, -1:]
        posterior = to_shares(np.array([np.interp([0.025, 0.975], row, EDGES) for row in below]))
        ends_by_rule[f"posterior, {name}"] = posterior
        ends_by_rule[f"t, else {name}"] = np.where(usable[:, None], by_t, posterior)
    return ends_by_rule


def main(runs: int = 500) -> None:
    rng = np.random.default_rng(7)
    cells = list(product(SIZES, CLUSTERS, CORRELATIONS, SHARES))
    covered: dict[str, list[float]] = {}
    wide: dict[str, list[float]] = {}
    tables = {size: likelihoods(size) for size in SIZES}
    for number, (size, count, icc, share) in enumerate(cells, 1):
        samples = np.sort(hits_by_cluster(rng, count, size, share, icc, runs), axis=1)
        hits, times = np.unique(samples, axis=0, return_counts=True)
        log_likelihoods = np.asarray(sum(tables[size][hits[:, n]] for n in range(count)))
        for rule, ends in intervals(hits, size, log_likelihoods).items():
            covers = (ends[:, 0] <= share) & (share <= ends[:, 1])
            covered.setdefault(rule, []).append(float(times[covers].sum() / runs))
            width = float((times * (ends[:, 1] - ends[:, 0])).sum() / runs)
            wide.setdefault(rule, []).append(width)
        if number % 18 == 0:
            print(f"{number} of {len(cells)} cells", file=sys.stderr, flush=True)
    print(
        f"{len(cells)} cells of {runs} runs: coverage, cells within {AIM[0]} to {AIM[1]}, ", end=""
    )
    print("largest and mean distance from that range, mean width")
    for rule, shares in covered.items():
        coverage = np.array(shares)
        away = np.maximum(np.maximum(AIM[0] - coverage, coverage - AIM[1]), 0)
        print(
            f"{rule:36s} {coverage.min():.3f} to {coverage.max():.3f}, {(away == 0).sum():3d}, "
            f"{away.max():.3f}, {away.mean():.4f}, {np.mean(wide[rule]):.3f}"
        )
    _print_cells(cells, covered[IN_USE], math.sqrt(0.95 * 0.05 / runs))


def _print_cells(
    cells: Sequence[tuple[int, int, float, float]], coverage: Sequence[float], error: float
) -> None:
    """Print the coverage of every cell, and those that miss the aim by more than chance."""
    print(f"{IN_USE}: trials and number of clusters, ICC; columns: share {SHARES}")
    for start in range(0, len(cells), len(SHARES)):
        size, count, icc, _ = cells[start]
        row = " ".join(f"{x:.3f}" for x in coverage[start : start + len(SHARES)])
        print(f"  {size:3d} {count:3d} {icc:.1f}  {row}")
    print(f"outside {AIM[0]} to {AIM[1]} by more than two standard errors ({error:.4f}):")
    for x, (size, count, icc, share) in sorted(zip(coverage, cells, strict=True)):
        if not AIM[0] - 2 * error <= x <= AIM[1] + 2 * error:
            print(f"  {x:.3f}: {count} clusters of {size}, ICC {icc}, share {share}")
