"""Bayes factors of t tests (Rouder et al. 2009): a Cauchy prior on the effect, half of it."""

from __future__ import annotations

import numpy as np
import scipy

from sally.core.errors import BadInput

MEDIUM = 2**-0.5  # the prior's scale that the R package BayesFactor takes unless told
WIDEST = 4.0  # effects beyond this many standard deviations are left out of the integral
POINTS = 801


def bayes_factor(t: float, first: int, second: int, scale: float = MEDIUM) -> float:
    """For an effect above zero against none, from the t of two independent groups."""
    if min(first, second) < 2:
        raise BadInput(f"Two groups of at least two are needed, not {first} and {second}.")
    degrees = first + second - 2
    root = np.sqrt(first * second / (first + second))
    spread = np.linspace(1e-3, 3.0, POINTS)  # the sample's deviation in units of the true one
    weight = scipy.stats.chi2.pdf(degrees * spread**2, degrees) * 2 * degrees * spread**2
    effects = np.linspace(0.0, WIDEST, POINTS)
    shifted = scipy.stats.norm.pdf(t * spread[None, :] - root * effects[:, None])
    given = np.trapezoid(shifted * weight, spread, axis=1)  # the density of t under each effect
    prior = 2 * scipy.stats.cauchy.pdf(effects, 0.0, scale)
    return float(np.trapezoid(given * prior, effects) / given[0])
