"""Variance components on scores whose sources are known."""

from __future__ import annotations

import numpy as np
import pytest

from sally.stats.components import REST, variance_components


def draw_sample(models, problems, repeats, sds, seed=1):
    rng = np.random.default_rng(seed)
    model, problem = rng.normal(0, sds[0], models), rng.normal(0, sds[1], problems)
    rows = [
        (model[m] + problem[q] + rng.normal(0, sds[2]), f"m{m}", f"q{q}")
        for m in range(models)
        for q in range(problems)
        for _ in range(repeats)
    ]
    values, first, second = zip(*rows, strict=True)
    return list(values), {"model": first, "problem": second}


def test_variance_sources_are_recovered_with_or_without_balance():
    values, factors = draw_sample(60, 60, 2, (2.0, 1.0, 3.0))
    kept = [n for n in range(len(values)) if n % 7 and n % 11]  # some are missing
    some_values = [values[n] for n in kept]
    for column, labels in (
        (values, factors),
        (some_values, {name: [labels[n] for n in kept] for name, labels in factors.items()}),
    ):
        variances = variance_components(column, labels, seed=1, draws=20).variances
        assert variances["model"] == pytest.approx(4.0, rel=0.3)
        assert variances["problem"] == pytest.approx(1.0, rel=0.4)
        assert variances[REST] == pytest.approx(9.0, rel=0.05)


def test_balanced_components_equal_analysis_of_variance():
    values, factors = draw_sample(6, 8, 3, (1.0, 1.0, 1.0))
    variances = variance_components(values, factors, seed=1, draws=5).variances
    table = np.array(values).reshape(6, 8, 3)
    other_values = (
        values
        - np.add.outer(table.mean((1, 2)), table.mean((0, 2))).repeat(3).ravel()
        + table.mean()
    )
    mean_square = float((other_values**2).sum()) / (144 - 6 - 8 + 1)
    by_model = 24 * table.mean((1, 2)).var(ddof=1)
    assert variances[REST] == pytest.approx(mean_square)
    assert variances["model"] == pytest.approx((by_model - mean_square) / 24)


def test_shares_sum_to_one_and_lie_in_their_intervals():
    values, factors = draw_sample(5, 10, 2, (1.0, 0.5, 1.0))
    shares = variance_components(values, factors, seed=1, draws=50)
    assert sum(e.value for e in shares.shares.values()) == pytest.approx(1.0)
    for e in shares.shares.values():
        assert 0 <= e.interval[0] <= e.value <= e.interval[1] <= 1


def test_interval_of_a_factor_covers_its_share():
    kept_count = 0
    for seed in range(30):
        values, factors = draw_sample(12, 12, 1, (1.0, 1.0, 1.0), seed)
        low, high = (
            variance_components(values, factors, seed=seed, draws=40).shares["model"].interval
        )
        kept_count += low <= 1 / 3 <= high
    assert kept_count >= 25


def test_confounded_factors_are_reported_and_constant_ones_omitted():
    values, factors = draw_sample(4, 5, 2, (1.0, 1.0, 1.0))
    more_fields = {
        **factors,
        "again": [f"x{m}" for m in factors["model"]],
        "alone": ["one"] * len(values),
    }
    shares = variance_components(values, more_fields, seed=1, draws=5)
    assert shares.same == {"again": "model"} and "alone" not in shares.shares


def test_constant_scores_have_no_shares():
    shares = variance_components([1.0] * 6, {"model": list("aabbcc")}, seed=1)
    assert shares.shares["model"].value is None


@pytest.mark.parametrize("models", [2, 3, 5])
def test_few_models_give_wide_intervals_that_cover_the_share(models: int):
    """A bootstrap from the fitted variances covered .67, .79 and .87."""
    count = 0
    for seed in range(80):
        values, factors = draw_sample(models, 15, 2, (1.0, 0.5, 1.0), seed)
        model = variance_components(values, factors, seed=1, draws=400).shares["model"]
        count += model.low <= 1 / 2.25 <= model.high
    assert count / 80 >= 0.87


def test_share_estimated_at_zero_still_has_an_interval():
    values, factors = draw_sample(3, 10, 2, (0.0, 1.0, 1.0), seed=4)
    model = variance_components(values, factors, seed=1).shares["model"]
    assert model.value < 0.05 and model.high > 0.05
