"""Reliability on tables whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from sally.stats.reliability import (
    components,
    consistency,
    correlation,
    pearson,
    scores_needed,
    split_half,
)


def draw_sample(players, problems, of_player, of_problem, of_rest, seed=1):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(0, of_player, (players, 1))
        + rng.normal(0, of_problem, (1, problems))
        + rng.normal(0, of_rest, (players, problems))
    )


def test_variance_components_are_recovered():
    actual_components = components(draw_sample(300, 300, 2.0, 3.0, 1.0))
    assert actual_components.players == pytest.approx(4.0, rel=0.15)
    assert actual_components.problems == pytest.approx(9.0, rel=0.15)
    assert actual_components.rest == pytest.approx(1.0, rel=0.05)
    assert actual_components.single == pytest.approx(0.8, abs=0.03)


def test_alpha_of_a_small_table_by_hand():
    table = [[1, 2, 3], [2, 3, 5], [4, 4, 6], [5, 7, 8]]
    items, total = np.var(table, axis=0, ddof=1).sum(), np.var(np.sum(table, axis=1), ddof=1)
    assert consistency(table).value == pytest.approx(3 / 2 * (1 - items / total))


def test_problem_difficulty_does_not_count_as_error():
    table = draw_sample(8, 10, 1.0, 0.0, 0.5)
    harder = table + np.arange(10) * 7
    assert consistency(harder).value == pytest.approx(consistency(table).value)


def test_split_half_approximates_its_closed_form():
    table = draw_sample(40, 20, 1.0, 1.0, 2.0)
    assert split_half(table, seed=1) == pytest.approx(consistency(table).value, abs=0.03)


def test_interval_covers_the_truth_nineteen_times_in_twenty():
    truth = 1 / (1 + 4 / 8)  # one score: 1 to 4; a mean of eight
    kept_count = 0
    for seed in range(400):
        estimate = consistency(draw_sample(12, 8, 1.0, 1.0, 2.0, seed))
        kept_count += estimate.interval[0] <= truth <= estimate.interval[1]
    assert 0.92 <= kept_count / 400 <= 0.98


def test_needed_scores_follow_spearman_brown():
    assert scores_needed(0.5) == 4 and scores_needed(0.8) == 1 and scores_needed(0.2, 0.9) == 36
    assert scores_needed(None) is None and scores_needed(0.0) is None
    with pytest.raises(ValueError, match="target is 1"):
        scores_needed(0.5, 1.0)


def test_players_that_do_not_differ_have_no_reliability():
    assert consistency([[1, 2, 3]] * 4).value is None
    assert consistency([[1, 1], [2, 2], [3, 3]]).value == 1.0
    assert split_half([[1.0, 2.0]] * 3, seed=1) is None
    with pytest.raises(ValueError, match="two players"):
        components([[1, 2, 3]])


def test_correlation_has_fishers_interval():
    estimate = correlation([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])
    assert estimate.value == pytest.approx(0.8)
    assert estimate.interval == pytest.approx([-0.2796, 0.9862], abs=1e-3)
    assert pearson([1, 1, 1], [1, 2, 3]) is None
