"""Scores of odds: published example, properness, ties and calibration."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.stats import (
    brier,
    calibration_curve,
    log_score,
    top_choice_accuracy,
)


def test_briers_own_example_of_ten_rain_forecasts():
    # Brier (1950), Monthly Weather Review 78, table 1: mean score .19.
    chance_of_rain = [0.7, 0.9, 0.8, 0.4, 0.2, 0.0, 0.0, 0.0, 0.0, 0.1]
    rained = [False, True, True, True] + [False] * 6
    scores = [
        brier({True: p, False: 1 - p}, r) for p, r in zip(chance_of_rain, rained, strict=True)
    ]
    assert np.mean(scores) == pytest.approx(0.19)


def test_the_ends_of_the_scales():
    sure = {"a": 1.0, "b": 0.0}
    assert (brier(sure, "a"), brier(sure, "b")) == (0, 2)
    assert (log_score(sure, "a"), log_score(sure, "b")) == (0, math.inf)
    assert log_score(sure, "b", floor=0.01) == pytest.approx(-math.log(0.01))
    assert log_score({"a": 0.25, "b": 0.75}, "a") == pytest.approx(math.log(4))
    uniform = dict.fromkeys("abcd", 0.25)
    assert brier(uniform, "c") == pytest.approx(0.75)


@st.composite
def distributions(draw):
    weights = draw(st.lists(st.integers(1, 20), min_size=3, max_size=3))
    return {i: w / sum(weights) for i, w in enumerate(weights)}


@given(distributions(), distributions())
def test_honest_odds_are_expected_to_score_best(believed, stated):
    for score in (brier, log_score):
        honest = sum(p * score(believed, x) for x, p in believed.items())
        other = sum(p * score(stated, x) for x, p in believed.items())
        assert honest <= other + 1e-12


def test_ties_at_the_top_share_the_point():
    assert top_choice_accuracy({"a": 0.4, "b": 0.4, "c": 0.2}, "a") == 0.5
    assert top_choice_accuracy({"a": 0.4, "b": 0.4, "c": 0.2}, "c") == 0
    assert top_choice_accuracy({"a": 0.5, "b": 0.3, "c": 0.2}, "a") == 1
    assert top_choice_accuracy({"a": 0.1 + 0.2, "b": 0.3, "c": 0.4 - 1e-17}, "c") == 1
    assert top_choice_accuracy({"a": 0.1 * 3, "b": 0.3, "c": 0.2, "d": 0.2}, "b") == 0.5


def test_odds_that_are_no_distribution_are_refused():
    with pytest.raises(ValueError, match="sum to"):
        brier({"a": 0.5, "b": 0.4}, "a")
    with pytest.raises(ValueError, match="'c' is not among the choices: 'a', 'b'"):
        log_score({"a": 0.5, "b": 0.5}, "c")
    with pytest.raises(ValueError, match="odds of 'a' are nan"):
        brier({"a": math.nan, "b": 0.5}, "a")
    with pytest.raises(ValueError, match="floor is 0"):
        log_score({"a": 1.0}, "a", floor=0)


def test_a_calibration_curve_by_hand():
    # Bins [0, .5) and [.5, 1]: mean forecasts .2 and .8, shares .5 and 1: (2 * .3 + 2 * .2) / 4.
    found = calibration_curve([0.1, 0.3, 0.6, 1.0], [0, 1, 1, 1], bins=2)
    assert [b.n for b in found.bins] == [2, 2]
    assert [b.forecast for b in found.bins] == pytest.approx([0.2, 0.8])
    assert [b.share for b in found.bins] == [0.5, 1.0]
    assert found.error == pytest.approx(0.25)


def test_an_empty_bin_is_blank_and_an_edge_belongs_above():
    found = calibration_curve([0.5], [1], bins=4)
    assert [b.n for b in found.bins] == [0, 0, 1, 0]
    assert found.bins[0].share is None
    assert calibration_curve([], [], bins=2).error is None


def test_a_forecaster_who_means_it_is_calibrated_and_a_boaster_is_not():
    rng = np.random.default_rng(1)
    p = rng.random(40_000)
    came_true = rng.random(40_000) < p
    assert calibration_curve(p, came_true).error < 0.015
    boast = np.where(p > 0.5, 1.0, 0.0)
    assert calibration_curve(boast, came_true).error == pytest.approx(0.25, abs=0.01)
