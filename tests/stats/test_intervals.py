"""Intervals against published figures, closed forms and coverage by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as peer

from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import (
    Estimate,
    clustered_mean_interval,
    clustered_ratio_interval,
    mean_interval,
    share_interval,
)

# Student (1908), Biometrika 6: extra hours of sleep under two drugs, difference per patient.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_student_sleep_data_give_the_textbook_interval():
    estimate = mean_interval(SLEEP)
    assert estimate.value == pytest.approx(1.58)
    assert estimate.interval == pytest.approx([0.7001142, 2.4598858], abs=1e-7)
    assert estimate.n == 10


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3 (Wilson).
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_equal_those_of_newcombe(successes, n, low, high):
    estimate = share_interval(successes, n)
    assert estimate.interval == pytest.approx([low, high], abs=5e-5)
    assert estimate.value == successes / n


def test_interval_of_share_0_or_1_ends_exactly_at_the_bound():
    assert share_interval(0, 7).low == 0.0
    assert share_interval(7, 7).high == 1.0


def test_empty_data_give_no_value_and_no_interval():
    for empty in (
        mean_interval([]),
        share_interval(0, 0),
        clustered_mean_interval([], [], seed=1),
    ):
        assert (empty.value, empty.interval, empty.n) == (None, None, 0)
        assert "no interval" in empty.method


def test_one_value_or_one_cluster_gives_a_value_without_interval():
    single = mean_interval([3.0])
    assert (single.value, single.interval, single.n) == (3.0, None, 1)
    together = clustered_mean_interval([1.0, 2.0, 3.0], ["a"] * 3, seed=1)
    assert (together.value, together.interval, together.n) == (2.0, None, 3)


@pytest.mark.parametrize("method", ["percentile", "expanded"])
def test_equal_values_give_an_interval_of_zero_width(method):
    assert mean_interval([0.1] * 7).interval == [0.1, 0.1]
    estimate = clustered_mean_interval([0.1] * 7, range(7), seed=1, method=method)
    assert estimate.interval == pytest.approx([0.1, 0.1])
    assert estimate.low == estimate.high


@pytest.mark.parametrize("bad", [math.nan, math.inf, None])
def test_missing_value_is_refused_with_its_position(bad):
    with pytest.raises(ValueError, match=r"values\[1\]"):
        mean_interval([1.0, bad, 2.0])
    with pytest.raises(ValueError, match=r"values\[1\]"):
        clustered_mean_interval([1.0, bad, 2.0], range(3), seed=1)


def test_invalid_arguments_are_refused_with_one_message():
    with pytest.raises(ValueError, match="between 0 and n = 3"):
        share_interval(4, 3)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        mean_interval([1, 2], level=95)
    with pytest.raises(ValueError, match="'percentile' or 'expanded'"):
        clustered_mean_interval([1, 2], range(2), seed=1, method="BCa")
    with pytest.raises(ValueError, match="must have the same length"):
        clustered_mean_interval([1, 2], ["a"], seed=1)


def test_interval_follows_the_seed():
    estimate, same_estimate, other_estimate = (
        clustered_mean_interval(SLEEP, range(10), seed=s) for s in (1, 1, 2)
    )
    assert estimate == same_estimate
    assert estimate != other_estimate
    generator = np.random.default_rng(1)
    assert clustered_mean_interval(SLEEP, range(10), seed=generator) == estimate


def resampled(rows, clusters, statistic, seed, resamples):
    """The percentile interval of a statistic, from rows put together cluster by cluster."""
    rng, units = np.random.default_rng(seed), list(dict.fromkeys(clusters))
    members = [[n for n, cluster in enumerate(clusters) if cluster == unit] for unit in units]
    draws = [
        statistic(np.asarray(rows)[[n for k in draw for n in members[k]]])
        for draw in rng.integers(len(units), size=(resamples, len(units)), dtype=np.intp)
    ]
    return np.quantile(draws, [0.025, 0.975])


def test_cluster_sums_and_resampled_rows_give_the_same_interval():
    rng = np.random.default_rng(3)
    clusters = rng.integers(12, size=80).tolist()
    values = rng.normal(size=80) + np.array(clusters)
    estimate = clustered_mean_interval(values, clusters, seed=9, resamples=500)
    assert estimate.interval == pytest.approx(resampled(values, clusters, np.mean, 9, 500))
    assert estimate.value == pytest.approx(values.mean())


def test_ratio_is_the_mean_of_resampled_sums_not_of_ratios():
    top, bottom, player = [1, 0, 9, 10], [1, 1, 10, 20], ["a", "a", "b", "c"]
    estimate = clustered_ratio_interval(top, bottom, player, seed=4, resamples=300)
    both = np.column_stack([top, bottom])
    slow = resampled(both, player, lambda rows: rows[:, 0].sum() / rows[:, 1].sum(), 4, 300)
    assert estimate.value == 20 / 32
    assert estimate.interval == pytest.approx(slow)


def test_percentile_interval_of_single_values_agrees_with_scipy():
    peer_interval = peer.bootstrap(
        (SLEEP,), np.mean, n_resamples=40_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    ours = clustered_mean_interval(SLEEP, range(10), seed=6, resamples=40_000)
    assert ours.interval == pytest.approx([peer_interval.low, peer_interval.high], abs=0.02)


def test_undefined_resample_is_counted_and_never_hidden():
    # Cluster a has no denominator: the resample (a, a) is undefined, with chance 1/4.
    estimate = clustered_ratio_interval([1, 1], [0, 2], ["a", "b"], seed=1, resamples=400)
    assert estimate.value == 1.0
    assert estimate.interval is None
    assert "undefined in" in estimate.method
    nothing = clustered_ratio_interval([1, 1], [0, 0], ["a", "b"], seed=1)
    assert nothing.value is None


def test_clustered_interval_covers_correlated_data_and_plain_does_not():
    # 40 clusters of 10 rows that share their cluster's effect (icc .8): the plain bootstrap
    # treats them as 400 independent rows.
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(40), 10).tolist()
    covered, naive, repeats = 0, 0, 200
    for _ in range(repeats):
        values = np.repeat(rng.normal(size=40), 10) + rng.normal(scale=0.5, size=400)
        low, high = clustered_mean_interval(values, clusters, seed=rng, resamples=400).interval
        covered += low <= 0 <= high
        low, high = mean_interval(values).interval
        naive += low <= 0 <= high
    assert 0.88 <= covered / repeats <= 0.99
    assert naive / repeats < 0.7


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30), st.integers(0, 99))
def test_bounds_stay_within_the_data_for_a_bootstrapped_mean(values, seed):
    estimate = clustered_mean_interval(values, range(len(values)), seed=seed, resamples=50)
    slack = 1e-9 * (1 + max(map(abs, values)))
    assert min(values) - slack <= estimate.low <= estimate.high <= max(values) + slack


def test_estimates_are_plain_data():
    import msgspec

    estimate = mean_interval(SLEEP)
    assert msgspec.json.decode(msgspec.json.encode(estimate), type=Estimate) == estimate


def test_drawing_in_blocks_does_not_change_the_interval(monkeypatch):
    full_estimate = clustered_mean_interval(SLEEP, range(10), seed=3, resamples=100)
    monkeypatch.setattr("sally.stats.intervals.BLOCK", 70)
    parts = clustered_mean_interval(SLEEP, range(10), seed=3, resamples=100)
    assert parts.interval == pytest.approx(full_estimate.interval)


def test_expanded_intervals_cover_with_few_clusters_and_plain_ones_do_not():
    rng = np.random.default_rng(11)
    covered = {"percentile": 0, "expanded": 0}
    for n in range(400):  # a ratio of two noisy sums whose truth is 0.5, over six clusters
        values = rng.normal(0, 0.4, size=(6, 1))
        above = 0.5 + values + rng.normal(0, 0.5, size=(6, 5))
        below = 1.0 + rng.normal(0, 0.3, size=(6, 5))
        units = np.repeat(np.arange(6), 5).tolist()
        for method in covered:
            estimate = clustered_ratio_interval(
                above.ravel(), below.ravel(), units, seed=n, resamples=400, method=method
            )
            covered[method] += estimate.low <= 0.5 <= estimate.high
    assert covered["percentile"] < 0.90 * 400
    assert covered["expanded"] > 0.91 * 400


def test_expanded_interval_of_many_values_equals_percentile_interval():
    values = np.random.default_rng(2).normal(size=2000)
    units = range(2000)
    plain = clustered_mean_interval(values, units, seed=1, resamples=1000)
    wide = clustered_mean_interval(values, units, seed=1, resamples=1000, method="expanded")
    assert wide.low == pytest.approx(plain.low, abs=0.002)
    assert wide.high == pytest.approx(plain.high, abs=0.002)


def test_t_interval_over_equal_clusters_equals_that_of_their_means():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(7, 1)) + 0.2 * rng.normal(size=(7, 9))
    units = np.repeat(np.arange(7), 9).tolist()
    estimate, means = mean_by_rule(values.ravel(), units), mean_interval(values.mean(axis=1))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (means.value, means.low, means.high)
    )
    assert (estimate.n, estimate.method) == (63, "t over 7 clusters")


def test_t_interval_over_single_values_is_plain_and_none_for_one_cluster():
    assert mean_by_rule(SLEEP, range(10)).interval == pytest.approx(mean_interval(SLEEP).interval)
    alone = mean_by_rule(SLEEP, ["a"] * 10)
    assert alone.value == pytest.approx(1.58) and alone.interval is None
    assert mean_by_rule([], []).value is None
    assert mean_by_rule([3.0], ["a"]).interval is None
