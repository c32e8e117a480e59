"""The rule for shares in the coverage benchmark is the rule of every table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.share_intervals import IN_USE, hits_by_cluster, intervals, likelihoods
from sally.stats.cluster_interval import mean_by_rule


@pytest.mark.parametrize(("count", "icc", "share"), [(5, 0.4, 0.05), (8, 0.0, 0.2), (20, 0.1, 0.5)])
def test_benchmark_uses_the_current_interval_rule(count: int, icc: float, share: float) -> None:
    size = 10
    hits = hits_by_cluster(np.random.default_rng(1), count, size, share, icc, 25)
    known_total = sum(likelihoods(size)[hits[:, n]] for n in range(count))
    interval = intervals(hits, size, np.asarray(known_total))[IN_USE]
    clusters = np.repeat(np.arange(count), size)
    for row, ends in zip(hits, interval, strict=True):
        right = np.tile(np.arange(size), count) < np.repeat(row, size)
        rule = mean_by_rule(right, clusters, (0.0, 1.0))
        assert ends == pytest.approx([rule.low, rule.high], abs=0.006)
