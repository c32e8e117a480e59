"""Clustered intervals: five clusters are needed, bounds hold, 0 and 1 are never certain."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from sally.stats.cluster_interval import (
    beta_binomial_interval,
    coarsest,
    gap_by_rule,
    lone_by_rule,
    mean_by_rule,
    ratio_by_rule,
)


def test_one_row_per_cluster_gives_the_t_interval():
    estimate = lone_by_rule([1.0, 2.0, 3.0, 4.0, 5.0])
    # t of 4 degrees is 2.776445; the error is sqrt(2.5 / 5)
    assert estimate.interval == pytest.approx([3 - 2.776445 * 0.5**0.5, 3 + 2.776445 * 0.5**0.5])


def test_fewer_than_five_clusters_give_a_value_without_interval():
    estimate = mean_by_rule([5.0, -5.0, 5.0, -5.0], ["a", "a", "b", "c"])
    assert estimate.value == 0 and estimate.interval is None
    assert "fewer than 5 clusters" in estimate.method


def test_intervals_stay_within_the_range_of_the_metric():
    """Two wins and three losses of five: the t interval would reach 12.8 in a game bounded by 5."""
    for wins in range(6):
        estimate = lone_by_rule([5.0] * wins + [-5.0] * (5 - wins), (-5.0, 5.0))
        assert -5 <= estimate.low <= estimate.value <= estimate.high <= 5


def test_all_or_no_successes_do_not_give_a_point_interval():
    sure = lone_by_rule([1.0] * 20, (0, 1))
    assert sure.value == sure.high == 1 and 0.75 < sure.low < 0.9
    none = lone_by_rule([0.0] * 20, (0, 1))
    assert none.low == 0 and none.high == pytest.approx(1 - sure.low)
    assert lone_by_rule([8.0] * 20).interval == [8, 8]  # no ends: what never varies never varies


def test_rows_of_one_cluster_count_once():
    skill = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    alone = lone_by_rule(skill)
    many = mean_by_rule(
        [s for s in skill for _ in range(50)], [s for s in skill for _ in range(50)]
    )
    assert many.interval == pytest.approx(alone.interval) and many.n == 300


def test_ratio_of_sums_weighs_clusters_by_their_size():
    estimate = ratio_by_rule([1, 0, 3, 2, 4], [2, 1, 3, 4, 5], list("abcde"), (0, 1))
    assert estimate.value == pytest.approx(10 / 15)


def test_coarsest_unit_with_at_least_five_values_is_chosen():
    rows = {"people": ["", "", "", "", "", ""], "problems": list("aabbcc"), "rows": list("uvwxyz")}
    assert coarsest(rows) == "rows"
    assert coarsest(rows | {"people": list("abcdef")}) == "people"


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_intervals_have_nominal_coverage_near_the_bounds(share):
    rng, count, runs = np.random.default_rng(17), 0, 400
    for _ in range(runs):
        estimate = lone_by_rule((rng.random(40) < share).astype(float), (0, 1))
        count += estimate.low <= share <= estimate.high
    assert count / runs >= 0.92


def test_few_people_stay_clustered_and_few_problems_do_not():
    rows = {"participants": list("aaabbb"), "instances": list("uvwxyz")}
    assert coarsest(rows) == "participants"
    assert coarsest({"instances": list("aaabbb"), "episodes": list(range(6))}) == "episodes"


# --- the difference of two sides -----------------------------------------------------------------


def test_games_of_one_person_count_once() -> None:
    values, two = [1.0, 0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]
    alone = gap_by_rule(values, two, list("abcdefghij"), (-1, 1))
    doubled = gap_by_rule(values * 2, two * 2, list("abcdeabcdefghijfghij"), (-1, 1))
    assert alone.value is not None and math.isclose(alone.value, 0.4)
    assert doubled.interval == alone.interval


def test_too_few_people_give_a_difference_without_interval() -> None:
    estimate = gap_by_rule([1.0, 1.0], [0.0], ["ann", "ben", "cid"], (-1, 1))
    assert (estimate.value, estimate.interval) == (1.0, None)
    assert gap_by_rule([], [0.0], ["ann"]).value is None


def test_interval_of_a_difference_of_shares_stays_within_bounds() -> None:
    estimate = gap_by_rule([1.0] * 5 + [0.0], [0.0] * 6, list(range(12)), (-1, 1))
    assert estimate.interval is not None and -1 <= estimate.interval[0] < estimate.interval[1] <= 1


def test_beta_binomial_interval_equals_jeffreys_for_independent_trials():
    """With clusters of one trial nothing tells a correlation: the interval of a plain share."""
    low, high = beta_binomial_interval([1] * 30 + [0] * 70, [1] * 100)
    exact = scipy.stats.beta.ppf([0.025, 0.975], 30.5, 70.5)
    assert [low, high] == pytest.approx(exact, abs=0.004)


def test_all_or_nothing_clusters_count_as_single_trials():
    low, high = beta_binomial_interval([10] * 8 + [0] * 12, [10] * 20)
    alone = beta_binomial_interval([1] * 8 + [0] * 12, [1] * 20)
    assert high - low > 0.8 * (alone[1] - alone[0])


def test_beta_binomial_is_used_only_if_clusters_differ():
    clusters = np.repeat(np.arange(8), 10)
    same = np.tile([1.0] + [0.0] * 9, 8)
    assert mean_by_rule(same, clusters, (0, 1)).method.startswith("t over 8")
    rare = np.array([1.0] + [0.0] * 79)  # here t would leave the bounds
    assert mean_by_rule(rare, clusters, (0, 1)).method == "beta-binomial over 8 clusters"
    differing = np.repeat([1.0, 0, 0, 0, 0, 0, 0, 0], 10)
    estimate = mean_by_rule(differing, clusters, (0, 1))
    assert estimate.method == "beta-binomial over 8 clusters"
    assert 0 < estimate.low < 0.125 < 0.35 < estimate.high < 0.6
    percent = mean_by_rule(100 * differing, clusters, (0, 100))
    assert percent.interval == pytest.approx([100 * estimate.low, 100 * estimate.high])


def test_rare_successes_in_correlated_clusters_are_covered():
    """Twenty clusters, ICC .4, share .05: a t interval covered .88."""
    rng = np.random.default_rng(3)
    clusters, count = np.repeat(np.arange(20), 20), 0
    for _ in range(100):
        chance = rng.beta(0.05 * 1.5, 0.95 * 1.5, 20)
        estimate = mean_by_rule(rng.random(400) < chance[clusters], clusters, (0, 1))
        count += estimate.low <= 0.05 <= estimate.high
    assert count / 100 >= 0.93
