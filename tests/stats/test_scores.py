"""Scores of odds: published example and properness."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.stats.scores import brier, log_score


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


def test_odds_that_are_no_distribution_are_refused():
    with pytest.raises(ValueError, match="sum to"):
        brier({"a": 0.5, "b": 0.4}, "a")
    with pytest.raises(ValueError, match="'c' is not among the choices: 'a', 'b'"):
        log_score({"a": 0.5, "b": 0.5}, "c")
    with pytest.raises(ValueError, match="odds of 'a' are nan"):
        brier({"a": math.nan, "b": 0.5}, "a")
    with pytest.raises(ValueError, match="floor is 0"):
        log_score({"a": 1.0}, "a", floor=0)
