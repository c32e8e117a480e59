"""Power of an experiment by simulation."""

from collections.abc import Callable

import numpy as np

from sally.stats.intervals import Estimate, share_interval


def simulated_power(
    experiment: Callable[[np.random.Generator], float], *, seed: int, repeats: int
) -> Estimate:
    """Return the share of simulated experiments whose p value is below .05."""
    rng = np.random.default_rng(seed)
    return share_interval(sum(experiment(rng) < 0.05 for _ in range(repeats)), repeats)
