"""Effect sizes; None if the data do not define one."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sally.stats.columns import finite, paired


def cohens_d(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the difference of two groups' means in pooled standard deviations."""
    one, two = finite(first, "first"), finite(second, "second")
    degrees = one.size + two.size - 2
    if min(one.size, two.size) == 0 or degrees < 1:
        return None
    within_groups = ((one - one.mean()) ** 2).sum() + ((two - two.mean()) ** 2).sum()
    pooled = math.sqrt(within_groups / degrees)
    return float(one.mean() - two.mean()) / pooled if pooled > 0 else None


def cohens_dz(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the mean paired difference in standard deviations of the differences."""
    one, two = paired(first, second)
    away = one - two
    if away.size < 2 or np.ptp(away) == 0:
        return None
    return float(away.mean() / away.std(ddof=1))
