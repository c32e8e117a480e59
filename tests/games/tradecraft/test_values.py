"""Value reports: divergences by hand, and planted exchange rates recovered."""

import math

import numpy as np
import pytest

from sally.games.tradecraft.trades import divergence, exchange, goods_value


def test_perfect_belief_has_no_divergence() -> None:
    actual_divergence = divergence({"a": 10, "b": 0}, {"a": 10, "b": 0})
    assert actual_divergence is not None
    assert (
        actual_divergence.kl,
        actual_divergence.reverse,
        actual_divergence.jensen_shannon,
        actual_divergence.items,
    ) == (0, 0, 0, 2)


def test_divergence_worked_out_by_hand() -> None:
    """Values 9.5/.5 and .5/9.5 after smoothing: shares .95, .05 against .05, .95."""
    actual_divergence = divergence({"a": 9, "b": 0}, {"a": 0, "b": 9})
    assert actual_divergence is not None
    assert actual_divergence.kl == pytest.approx(0.9 * math.log(19))
    assert actual_divergence.reverse == pytest.approx(actual_divergence.kl)
    both_value = 0.95 * math.log(0.95 / 0.5) + 0.05 * math.log(0.05 / 0.5)
    assert actual_divergence.jensen_shannon == pytest.approx(both_value)


def test_kl_divergence_is_asymmetric_and_both_directions_are_reported() -> None:
    actual_divergence = divergence({"a": 9, "b": 0, "c": 0}, {"a": 4, "b": 4, "c": 4})
    assert actual_divergence is not None
    p, q = np.array([9.5, 0.5, 0.5]) / 10.5, np.full(3, 1 / 3)
    assert actual_divergence.kl == pytest.approx(float(np.sum(p * np.log(p / q))))
    assert actual_divergence.reverse == pytest.approx(float(np.sum(q * np.log(q / p))))
    assert actual_divergence.kl != pytest.approx(actual_divergence.reverse)


def test_only_items_in_both_reports_count() -> None:
    both_divergence = divergence({"a": 3, "b": 1, "x": 9}, {"a": 1, "b": 3, "y": 2})
    assert both_divergence == divergence({"a": 3, "b": 1}, {"a": 1, "b": 3})
    assert divergence({"a": 3, "x": 1}, {"a": 3, "y": 1}) is None
    assert divergence({}, {}) is None


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_values_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite numbers of at least 0"):
        divergence({"a": bad, "b": 1}, {"a": 1, "b": 1})


def test_worth_multiplies_amounts_and_is_none_for_unrated_items() -> None:
    assert goods_value({"coal": 3, "stick": 0.5}, {"coal": 2, "stick": 4}) == 8
    assert goods_value({"coal": 3}, {}) == 0
    assert goods_value({"coal": 3}, {"stick": 1}) is None


def _planted(slope: float, seed: int) -> tuple[list[float], list[float], list[str]]:
    rng = np.random.default_rng(seed)
    requested, offered, episodes = [], [], []
    for episode in range(20):
        shift = rng.normal(0, 1)  # episodes differ, so proposals within one are not independent
        for _ in range(8):
            x = rng.uniform(0, 20)
            requested.append(x)
            offered.append(slope * x + 2 + shift + rng.normal(0, 1.5))
            episodes.append(f"e{episode}")
    return requested, offered, episodes


@pytest.mark.parametrize("slope", [0.4, 1.0, 1.6])
def test_planted_slope_is_recovered(slope: float) -> None:
    exchange_rate = exchange(*_planted(slope, seed=3), seed=0)
    assert exchange_rate.slope is not None
    assert exchange_rate.slope_interval is not None
    assert exchange_rate.slope == pytest.approx(slope, abs=0.08)
    low, high = exchange_rate.slope_interval
    assert low < slope < high
    assert high - low < 0.2
    assert (exchange_rate.proposals, exchange_rate.episodes, exchange_rate.undefined) == (
        160,
        20,
        0,
    )


def test_slope_and_r_agree_with_numpy() -> None:
    x, y, episodes = _planted(0.7, seed=9)
    exchange_rate = exchange(x, y, episodes, seed=0)
    assert exchange_rate.r == pytest.approx(np.corrcoef(x, y)[0, 1])
    slope, intercept = np.polyfit(x, y, 1)
    assert (exchange_rate.slope, exchange_rate.intercept) == (
        pytest.approx(slope),
        pytest.approx(intercept),
    )


def test_interval_covers_the_planted_slope_about_nine_times_in_ten() -> None:
    covered = 0
    for seed in range(100):
        low, high = exchange(*_planted(0.8, seed), seed=seed, draws=400).slope_interval or (0, 0)
        covered += low < 0.8 < high
    assert 80 <= covered <= 97


def test_whole_episodes_are_resampled() -> None:
    """Eight copies of one episode's proposals are no more evidence than one copy each."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, 12)
    y = x + rng.normal(0, 3, 12)
    first_exchange_rate = exchange(x, y, [f"e{i}" for i in range(12)], seed=0)
    copied = exchange(np.tile(x, 8), np.tile(y, 8), [f"e{i}" for i in range(12)] * 8, seed=0)
    assert copied.slope_interval == pytest.approx(first_exchange_rate.slope_interval)


def test_constant_values_have_no_slope() -> None:
    exchange_rate = exchange([5, 5, 5], [1, 2, 3], ["a", "b", "c"], seed=0)
    assert exchange_rate.slope is None
    assert exchange_rate.r is None
    assert exchange_rate.slope_interval is None
    assert exchange_rate.undefined == 2000
    flat = exchange([1, 2, 3], [0, 0, 0], ["a", "b", "c"], seed=0)
    assert flat.slope == 0
    assert flat.r is None


def test_rows_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one episode per proposal"):
        exchange([1, 2], [1, 2, 3], ["a", "b"], seed=0)


def test_same_seed_gives_the_same_interval() -> None:
    rows = _planted(1.0, seed=2)
    assert exchange(*rows, seed=5) == exchange(*rows, seed=5)
    assert exchange(*rows, seed=5).slope_interval != exchange(*rows, seed=6).slope_interval
