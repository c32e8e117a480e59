"""Every test of one paired comparison: difference, significance, effect size and equivalence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from sally.stats.cluster_interval import FEWER
from sally.stats.columns import Floats, finite, same_length
from sally.stats.effects import cohens_dz
from sally.stats.equivalence import paired_equivalence_p
from sally.stats.intervals import FEW, Estimate, Seed, clustered_mean_interval, without_interval
from sally.stats.paired_differences import sign_flip_test

RESAMPLES = 2000
SMALL = 0.2  # standard deviations: the default margin within which a difference counts as none


class PairedTests(msgspec.Struct, frozen=True):
    """The tests of first minus second over pairs, before any adjustment for multiplicity."""

    first: float
    second: float
    difference: Estimate
    p: float | None  # sign flips of whole clusters; None for a single pair
    effect: float | None  # Cohen's dz
    margin: float | None
    p_equivalent: float | None
    units: int  # number of clusters


def paired_tests(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    seed: Seed,
    margin: float | None = None,
    n: int | None = None,
) -> PairedTests:
    """Return the tests of one comparison; the default margin is a fifth of a standard deviation.

    Args:
        first: Scores of the first condition, one per pair.
        second: Scores of the second condition.
        clusters: The cluster of each pair; whole clusters are resampled and flipped.
        seed: Seed of the resampling.
        margin: Differences within it count as equivalence.
        n: The number of independent pairs, if it is not the number of rows.
    """
    a, b = finite(first, "first"), finite(second, "second")
    same_length("first", a.size, "second", b.size)
    difference = clustered_mean_interval(
        a - b, clusters, seed=seed, resamples=RESAMPLES, method="expanded"
    )
    units = len(set(clusters))
    if units < FEW:
        difference = without_interval(difference.value, n or a.size, "bootstrap", FEWER)
    wide = default_margin(a, b) if margin is None else margin
    return PairedTests(
        first=float(a.mean()),
        second=float(b.mean()),
        difference=difference,
        p=sign_flip_test(a - b, clusters=clusters, seed=seed) if a.size > 1 else None,
        effect=cohens_dz(a, b),
        margin=wide,
        p_equivalent=_equivalent(a - b, clusters, wide),
        units=units,
    )


def default_margin(a: Floats, b: Floats) -> float | None:
    """Return the default equivalence margin, a fifth of the standard deviation within conditions;
    None if that deviation is 0."""
    if a.size < 2:
        return None
    spread = float(np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))
    return SMALL * spread if spread > 0 else None


def cluster_means(values: Floats, clusters: Sequence[Hashable]) -> list[float]:
    """Return the mean of each cluster, in order of first appearance."""
    values_by_cluster: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        values_by_cluster.setdefault(cluster, []).append(float(value))
    # a cluster of one value is the usual case
    return [
        cluster_values[0] if len(cluster_values) == 1 else float(np.mean(cluster_values))
        for cluster_values in values_by_cluster.values()
    ]


def _equivalent(
    differences: Floats, clusters: Sequence[Hashable], margin: float | None
) -> float | None:
    """Return the p value of the two one-sided tests over the means of clusters.

    If the differences have no variance, two pairs would already give a p value of 0, so None is
    returned.
    """
    units = cluster_means(differences, clusters)
    if margin is None or np.ptp(units) == 0:
        return None
    return paired_equivalence_p(units, (-margin, margin))
