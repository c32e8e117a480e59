"""How the buyer's value and the seller's cost are drawn: four families, each an exact table.

`uniform` is the published rule. The other three are our fits to the values of published games
(protocol `pact`, section 1; the generators of these games are not published) and are labelled as
fits: `correlated` draws value and cost independently from -5..105 and clips them to the scale, so
they are correlated only through the condition below; `semi_bimodal` draws from the lowest or the
highest fifth of the scale, with equal probability; `heavy_tailed` is Student's t with three degrees
of freedom around 50, clipped. All four families are conditioned on the value exceeding the cost by
at least `GAP`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import atan, pi, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

HIGHEST = 100  # prices, values and costs are whole numbers from 0 to this
GAP = 3  # minimum difference of value and cost
Family = Literal["uniform", "correlated", "semi_bimodal", "heavy_tailed"]
FAMILIES: tuple[Family, ...] = ("uniform", "correlated", "semi_bimodal", "heavy_tailed")
FIT_MARGIN = 5  # how far the draws of `correlated` reach beyond either end of the scale
FIT_LOW, FIT_HIGH = 20, 80  # the inner ends of the two fifths of `semi_bimodal`
FIT_CENTRE, FIT_SCALE = 50.0, 19.0  # of `heavy_tailed`

Floats = npt.NDArray[np.float64]


def single(family: Family) -> Floats:
    """Return the probability of each number from 0 to 100 in one draw, before conditioning on the
    value exceeding the cost."""
    chances = np.ones(HIGHEST + 1)
    if family == "correlated":
        chances[0] = chances[-1] = FIT_MARGIN + 1
    elif family == "semi_bimodal":
        chances[FIT_LOW + 1 : FIT_HIGH] = 0.0
    elif family == "heavy_tailed":
        edges = [_student_3((n + 0.5 - FIT_CENTRE) / FIT_SCALE) for n in range(HIGHEST)]
        chances = np.diff([0.0, *edges, 1.0])
    return np.asarray(chances / chances.sum(), dtype=float)


def _student_3(t: float) -> float:
    """Return the distribution function of Student's t with three degrees of freedom."""
    x = t / sqrt(3)
    return 0.5 + (x / (1 + x * x) + atan(x)) / pi


@cache
def joint(family: Family) -> Floats:
    """Return the probability of every (value, cost); zero where the value does not exceed the cost
    by enough."""
    margin = single(family)
    joint_odds = np.outer(margin, margin)
    numbers = np.arange(HIGHEST + 1)
    joint_odds[numbers[:, None] - numbers[None, :] < GAP] = 0.0
    joint_odds /= joint_odds.sum()
    joint_odds.flags.writeable = False
    return joint_odds


@cache
def value_odds(family: Family) -> Mapping[int, float]:
    """Return the distribution of the buyer's value."""
    return _odds(joint(family).sum(axis=1))


@cache
def cost_odds(family: Family, value: int) -> Mapping[int, float]:
    """Return the distribution of the seller's cost, given the buyer's value."""
    return _odds(joint(family)[value])


@cache
def other_odds(family: Family, is_buyer: bool, limit: int) -> Floats:
    """Return the chance of every possible limit of the other seat, given the player's own limit."""
    row = joint(family)[limit] if is_buyer else joint(family)[:, limit]
    total = float(row.sum())
    odds = row / total if total > 0 else row
    odds.flags.writeable = False
    return np.asarray(odds)


def quantile(chances: Floats, share: float) -> int:
    """Return the smallest number at which the cumulative probability reaches `share`."""
    return int(np.searchsorted(np.cumsum(chances), share - 1e-12))


def _odds(row: Floats) -> Mapping[int, float]:
    row = row / row.sum()
    return {n: float(p) for n, p in enumerate(row) if p > 0}
