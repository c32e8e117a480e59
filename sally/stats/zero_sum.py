"""Maximin play of a matrix game, which is its equilibrium if the game is zero-sum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput


def maximin_odds(pay: NDArray[np.float64]) -> Mapping[int, float]:
    """Return the odds of the rows that maximise the lowest expected payoff over the columns.

    The solution is that of a linear program (von Neumann 1928): maximise v, where every column pays
    at least v.

    Raises:
        BadInput: if the solver finds no solution.
    """
    from scipy.optimize import linprog  # imported here: it loads longer than most matches take

    rows, columns = pay.shape
    solved = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-pay.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None, :],
        b_eq=[1.0],
        bounds=[(0, 1)] * rows + [(None, None)],
        method="highs",
    )
    if solved.x is None or not solved.success:
        raise BadInput(f"the maximin strategy could not be computed: {solved.message}")
    odds = np.clip(solved.x[:rows], 0, 1).round(12)
    return {row: float(p / odds.sum()) for row, p in enumerate(odds) if p > 0}
