"""Accept or reject, explained by utility: gains and losses as the decision maker values them.

U0 = G0 - rho L0; U01 = U0 + w1 (G1 - gamma L1); U012 = U01 + w2 (G2 - kappa L2), where G_k sums
the maker's own order-k values over what it would receive and L_k over what it would give. A
logistic curve on the standardised utility gives the chance of acceptance; the best weights on a
grid are those with the highest penalised likelihood on the training decisions. The penalty is
half the squared slope, intercept free: separable decisions have no finite fit without one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

STEP = 0.25  # the grid: 0 to 2 for rho, gamma and kappa, -2 to 2 for w1 and w2
FEATURES = ("G0", "L0", "G1", "L1", "G2", "L2")


class Weights(msgspec.Struct, frozen=True):
    """The weights inside the utility."""

    rho: float
    w1: float = 0.0
    gamma: float = 0.0
    w2: float = 0.0
    kappa: float = 0.0

    def vector(self, order: int) -> Floats:
        """The weight of each feature G0, L0, G1, L1, G2, L2 up to an order."""
        full = [1, -self.rho, self.w1, -self.w1 * self.gamma, self.w2, -self.w2 * self.kappa]
        return np.array(full[: 2 * (order + 1)], dtype=np.float64)


class Fit(msgspec.Struct, frozen=True):
    """A fitted decision rule and how well it foretells decisions of unseen episodes."""

    order: int
    weights: Weights
    slope: float  # on the standardised utility
    intercept: float
    coefficients: dict[str, float]  # of each feature; absolute values sum to 1
    f1: tuple[float, ...]  # macro-F1 of each fold
    f1_mean: float
    f1_sd: float  # over the folds, dividing by the number of folds
    decisions: int
    episodes: int


def fit_decisions(
    features: ArrayLike,
    accepted: ArrayLike,
    episodes: Sequence[Any],
    order: int,
    *,
    seed: int,
    folds: int = 3,
    step: float = STEP,
) -> Fit:
    """Fit the utility up to an order; columns are G0, L0, then G1, L1, then G2, L2."""
    x, y, names, which = _checked(features, accepted, episodes, order, folds)
    place = np.random.default_rng(seed).permutation(len(names)) % folds
    scores = []
    for fold in range(folds):
        test = place[which] == fold
        model = _train(x[~test], y[~test], order, step)
        scores.append(macro_f1(y[test], _predict(model, x[test], order)))
    weights, slope, intercept, _, sd = _train(x, y, order, step)
    raw = weights.vector(order) * slope / sd
    total = float(np.abs(raw).sum()) or 1.0
    return Fit(
        order=order,
        weights=weights,
        slope=slope,
        intercept=intercept,
        coefficients={name: float(c) / total for name, c in zip(FEATURES, raw, strict=False)},
        f1=tuple(scores),
        f1_mean=float(np.mean(scores)),
        f1_sd=float(np.std(scores)),
        decisions=len(y),
        episodes=len(names),
    )


def macro_f1(truth: NDArray[np.bool_], guess: NDArray[np.bool_]) -> float:
    """The mean F1 of accepting and rejecting, over the classes that occur at all."""
    scores = []
    for label in (False, True):
        hits = int(np.sum((truth == label) & (guess == label)))
        named = int(np.sum(truth == label) + np.sum(guess == label))
        if named:
            scores.append(2 * hits / named)
    return float(np.mean(scores))


def grid(order: int, step: float = STEP) -> Iterator[Weights]:
    """Every combination of weights, without the idle ones that a weight of 0 would repeat."""
    up = np.arange(0, 2 + step / 2, step)
    both = np.arange(-2, 2 + step / 2, step)
    shares = [(float(w), float(g)) for w in both for g in (up if w else up[:1])]
    firsts = shares if order >= 1 else [(0.0, 0.0)]
    seconds = shares if order >= 2 else [(0.0, 0.0)]
    for rho in up:
        for w1, gamma in firsts:
            for w2, kappa in seconds:
                yield Weights(float(rho), w1, gamma, w2, kappa)


_Model = tuple[Weights, float, float, float, float]  # weights, slope, intercept, mean, sd


def _train(x: Floats, y: NDArray[np.bool_], order: int, step: float) -> _Model:
    """The weights with the highest penalised likelihood, and the curve on their utility."""
    candidates = list(grid(order, step))
    vectors = np.stack([weights.vector(order) for weights in candidates])
    # Blocks follow the innermost loop of the grid, so the last block's curves start the next.
    block = len(candidates) // len(list(grid(order - 1, step))) if order else len(candidates)
    best, loss, curves = 0, np.inf, np.zeros((2, block))
    for start in range(0, len(vectors), block):
        losses, curves = _losses(x @ vectors[start : start + block].T, y, curves)
        here = int(np.argmin(losses))
        if losses[here] < loss - 1e-7:  # ties go to the earlier weights
            best, loss = start + here, float(losses[here])
    utility = x @ vectors[best]
    mean, sd = float(utility.mean()), float(utility.std()) or 1.0
    slope, intercept = _logistic((utility - mean) / sd, y)
    return candidates[best], slope, intercept, mean, sd


def _losses(utilities: Floats, y: NDArray[np.bool_], curves: Floats) -> tuple[Floats, Floats]:
    """The least penalised loss for each column of utilities, and its slopes and intercepts.

    Newton's method reaches the same minimum as L-BFGS (the loss is convex) for many columns at
    once; a column whose utility never varies keeps slope 0.
    """
    u = utilities - utilities.mean(axis=0)
    sd = np.sqrt(np.einsum("ij,ij->j", u, u) / len(u))
    u /= np.where(sd > 0, sd, 1)
    uu, target = u * u, y.astype(np.float64)
    hits, ones = target @ u, target.sum()
    slope, bias = curves
    for _ in range(50):
        p = scipy.special.expit(u * slope + bias)
        g_slope, g_bias = np.einsum("ij,ij->j", p, u) - hits + slope, p.sum(axis=0) - ones
        p *= 1 - p
        a, b = np.einsum("ij,ij->j", p, uu) + 1, np.einsum("ij,ij->j", p, u)
        c = p.sum(axis=0) + 1e-12
        det = a * c - b * b
        step_slope = np.clip((c * g_slope - b * g_bias) / det, -3, 3)
        step_bias = np.clip((a * g_bias - b * g_slope) / det, -3, 3)
        slope, bias = slope - step_slope, bias - step_bias
        if max(np.abs(step_slope).max(), np.abs(step_bias).max()) < 1e-4:
            break
    z = u * slope + bias
    losses = np.logaddexp(0, z).sum(axis=0) - slope * hits - bias * ones + slope**2 / 2
    return np.asarray(losses), np.stack([slope, bias])


def _logistic(u: Floats, y: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and intercept of the penalised logistic curve, by L-BFGS."""
    target = y.astype(np.float64)

    def loss(at: Floats) -> tuple[float, Floats]:
        z = at[0] * u + at[1]
        error = scipy.special.expit(z) - target
        value = float((np.logaddexp(0, z) - target * z).sum() + at[0] ** 2 / 2)
        return value, np.array([error @ u + at[0], error.sum()])

    found = scipy.optimize.minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1])


def _predict(model: _Model, x: Floats, order: int) -> NDArray[np.bool_]:
    weights, slope, intercept, mean, sd = model
    z = slope * (x @ weights.vector(order) - mean) / sd + intercept
    return np.asarray(z > 0)


def _checked(
    features: ArrayLike, accepted: ArrayLike, episodes: Sequence[Any], order: int, folds: int
) -> tuple[Floats, NDArray[np.bool_], NDArray[Any], NDArray[np.intp]]:
    """The arrays, if they fit together and hold enough to fit anything."""
    if order not in (0, 1, 2):
        raise ValueError(f"The order of a utility is 0, 1 or 2, not {order!r}.")
    x, y = np.asarray(features, np.float64), np.asarray(accepted, bool)
    columns = 2 * (order + 1)
    if x.ndim != 2 or x.shape[1] < columns or not (len(x) == len(y) == len(episodes)):
        raise ValueError(f"Order {order} needs a row of {columns} features for every decision.")
    x = x[:, :columns]
    if not np.all(np.isfinite(x)):
        raise ValueError("Features must be finite; leave decisions with missing reports out.")
    if y.all() or not y.any():
        raise ValueError("All decisions are the same; there is nothing to fit.")
    names, which = np.unique(np.asarray(episodes, dtype=str), return_inverse=True)
    if len(names) < folds:
        raise ValueError(f"{folds} folds need at least {folds} episodes, not {len(names)}.")
    return x, y, names, which
