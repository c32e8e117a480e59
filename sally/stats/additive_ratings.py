"""Additive ratings of players: a ridge regression of results on players, with intervals from
resampled games."""

from __future__ import annotations

import numpy as np

from sally.stats.columns import Floats

RIDGE = 1.0  # penalty on the terms of players
HARDLY = 1e-9  # on all other terms: keeps the equations solvable if two terms coincide


def additive_ratings(
    terms: Floats, results: Floats, players: int, draws: int, generator: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return the coefficients of all terms, and the lower and upper ends of their 95% intervals.

    Args:
        terms: Array of shape (game, result, term); the terms of players come first.
        results: Array of shape (game, result).
        players: The number of players, whose terms are penalised.
        draws: How often the games are resampled.
        generator: The source of the draws.
    """
    n_games = len(terms)
    picks = generator.integers(0, n_games, size=(draws, n_games))
    resampled = [_fit_coefficients(terms[pick], results[pick], players) for pick in picks]
    low, high = np.quantile(np.array(resampled), [0.025, 0.975], axis=0)
    return _fit_coefficients(terms, results, players), low, high


def _fit_coefficients(terms: Floats, results: Floats, players: int) -> Floats:
    flat = terms.reshape(-1, terms.shape[-1])
    penalty = np.full(flat.shape[1], HARDLY)
    penalty[:players] = RIDGE
    coefficients = np.linalg.solve(flat.T @ flat + np.diag(penalty), flat.T @ results.reshape(-1))
    return np.asarray(coefficients, dtype=np.float64)
