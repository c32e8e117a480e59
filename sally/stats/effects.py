"""Effect sizes; None if the data do not define one."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sally.stats.columns import as_pairs, finite


def cohens_d(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the difference of two groups' means in pooled standard deviations."""
    first_values, two = finite(first, "first"), finite(second, "second")
    degrees = first_values.size + two.size - 2
    if min(first_values.size, two.size) == 0 or degrees < 1:
        return None
    within_groups = ((first_values - first_values.mean()) ** 2).sum() + (
        (two - two.mean()) ** 2
    ).sum()
    pooled = math.sqrt(within_groups / degrees)
    return float(first_values.mean() - two.mean()) / pooled if pooled > 0 else None


def cohens_dz(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the mean paired difference in standard deviations of the differences."""
    first_values, two = as_pairs(first, second)
    away = first_values - two
    if away.size < 2 or np.ptp(away) == 0:
        return None
    return float(away.mean() / away.std(ddof=1))
