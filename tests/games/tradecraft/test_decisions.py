"""Decisions fitted by utility: planted weights come back, and folds keep episodes apart."""

from typing import Any

import numpy as np
import pytest

from sally.games.tradecraft.trades import Weights, fit_decisions, grid


def synthetic(
    weights: Weights, order: int, n: int, seed: int, sharpness: float = 8.0
) -> tuple[Any, Any, list[str]]:
    """Traders who accept by exactly this utility, a little noisily."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 20, size=(n, 6))
    g0, l0, g1, l1, g2, l2 = x.T
    utility = g0 - weights.rho * l0
    if order >= 1:
        utility = utility + weights.w1 * (g1 - weights.gamma * l1)
    if order >= 2:
        utility = utility + weights.w2 * (g2 - weights.kappa * l2)
    z = sharpness * (utility - utility.mean()) / utility.std()
    return x, rng.uniform(size=n) < 1 / (1 + np.exp(-z)), [f"e{i // 10}" for i in range(n)]


@pytest.mark.parametrize("rho", [0.0, 0.75, 1.5])
def test_planted_loss_aversion_is_recovered(rho: float) -> None:
    fit = fit_decisions(*synthetic(Weights(rho), 0, 1500, seed=1), order=0, seed=0)
    assert fit.weights.rho == pytest.approx(rho, abs=0.25)
    assert fit.slope > 0
    assert fit.f1_mean > 0.85


@pytest.mark.parametrize(("w1", "gamma"), [(-1.0, 0.5), (0.75, 1.5), (0.0, 0.0)])
def test_planted_first_order_weight_is_recovered(w1: float, gamma: float) -> None:
    truth = Weights(1.0, w1, gamma)
    fit = fit_decisions(*synthetic(truth, 1, 600, seed=2), order=1, seed=0)
    assert fit.weights.w1 == pytest.approx(w1, abs=0.25)
    assert fit.weights.rho == pytest.approx(1.0, abs=0.25)
    if w1:
        assert fit.weights.gamma == pytest.approx(gamma, abs=0.5)
        assert np.sign(fit.coefficients["G1"]) == np.sign(w1)


def test_planted_second_order_weights_are_recovered() -> None:
    """On a grid of half steps, to be quick; the full grid is the same code."""
    truth = Weights(1.0, -0.5, 1.0, 1.5, 0.5)
    fit = fit_decisions(*synthetic(truth, 2, 360, seed=3), order=2, seed=0, step=0.5)
    assert fit.weights.rho == pytest.approx(truth.rho, abs=0.5)
    assert fit.weights.w1 == pytest.approx(truth.w1, abs=0.5)
    assert fit.weights.w2 == pytest.approx(truth.w2, abs=0.5)
    assert fit.coefficients["G2"] > 0 > fit.coefficients["L2"]
    assert sum(map(abs, fit.coefficients.values())) == pytest.approx(1)


def test_fitted_curve_minimizes_the_penalized_loss() -> None:
    x, y, names = synthetic(Weights(1.0), 0, 120, seed=6, sharpness=2.0)
    fit = fit_decisions(x, y, names, order=0, seed=0)
    u = x[:, :2] @ fit.weights.vector(0)
    u = (u - u.mean()) / u.std()
    error = 1 / (1 + np.exp(-fit.slope * u - fit.intercept)) - y
    assert [error @ u + fit.slope, error.sum()] == pytest.approx([0, 0], abs=1e-6)


def test_right_order_predicts_better() -> None:
    rows = synthetic(Weights(1.0, 1.5, 1.0), 1, 300, seed=4)
    zero, first = (fit_decisions(*rows, order=k, seed=0).f1_mean for k in (0, 1))
    assert first > zero + 0.1


def test_random_decisions_are_not_predicted() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0, 20, (300, 6)), rng.uniform(size=300) < 0.5
    fit = fit_decisions(x, y, [f"e{i // 10}" for i in range(300)], order=1, seed=0)
    assert 0.35 < fit.f1_mean < 0.6


def test_whole_episodes_are_held_out() -> None:
    """Two episodes accept what gains, the third what does not: seen from the two, all of its
    decisions are foretold wrongly; with its own rows in training they would not be."""
    rng = np.random.default_rng(6)
    x = np.column_stack([rng.uniform(0, 20, 300), np.zeros(300)])
    episodes = np.repeat(["a", "b", "c"], 100)
    accepted = (x[:, 0] > 10) ^ (episodes == "c")
    fit = fit_decisions(x, accepted, list(episodes), order=0, seed=0)
    assert len(fit.f1) == 3
    assert min(fit.f1) < 0.05


def test_separable_decisions_have_a_finite_fit() -> None:
    x = np.column_stack([np.arange(30.0), np.zeros(30)])
    fit = fit_decisions(x, np.arange(30) >= 15, [str(i % 6) for i in range(30)], order=0, seed=0)
    assert np.isfinite([fit.slope, fit.intercept]).all()
    assert fit.f1_mean > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_fitted_curve_is_the_penalised_optimum(seed: int) -> None:
    """The gradient of the loss vanishes at the fit."""
    x, y, episodes = synthetic(Weights(1.0), 0, 200, seed=seed, sharpness=2)
    fit = fit_decisions(x, y, episodes, order=0, seed=0)
    u = x[:, :2] @ fit.weights.vector(0)
    u = (u - u.mean()) / u.std()
    error = 1 / (1 + np.exp(-(fit.slope * u + fit.intercept))) - y
    assert error @ u + fit.slope == pytest.approx(0, abs=1e-2)
    assert error.sum() == pytest.approx(0, abs=1e-2)


def test_grid_is_the_one_the_protocol_names() -> None:
    zero = list(grid(0))
    assert [w.rho for w in zero] == [0.25 * n for n in range(9)]
    first = list(grid(1))
    assert {w.w1 for w in first} == {0.25 * n for n in range(-8, 9)}
    assert {w.gamma for w in first} == {0.25 * n for n in range(9)}
    assert len(first) == 9 * (16 * 9 + 1) == len(set(map(str, first)))
    assert sum(1 for _ in grid(2)) == 9 * 145 * 145


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"order": 3}, "0, 1 or 2"),
        ({"features": np.zeros((12, 1))}, "needs 2 features"),
        ({"features": np.full((12, 2), np.nan)}, "finite"),
        ({"accepted": np.ones(12)}, "nothing to fit"),
        ({"episodes": ["a"] * 12}, "at least 3 episodes"),
    ],
)
def test_unusable_rows_are_refused_with_the_reason(change: dict[str, Any], says: str) -> None:
    rows: dict[str, Any] = {
        "features": np.arange(24.0).reshape(12, 2),
        "accepted": np.arange(12) % 2 == 0,
        "episodes": [str(i % 4) for i in range(12)],
        "order": 0,
    }
    with pytest.raises(ValueError, match=says):
        fit_decisions(**(rows | change), seed=0)
