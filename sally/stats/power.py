"""Sample sizes and power of two-sided tests of a difference."""

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from sally.stats.columns import Floats, encode_labels, finite, sums_by, within


def t_power(
    n: int, detect: float, variance: float, *, alpha: float = 0.05, groups: int = 1
) -> float:
    """Return the power of a two-sided t test with n pairs (groups=1) or n in each of two groups."""
    if groups not in (1, 2):
        raise ValueError(f"groups is {groups}; it must be 1 (paired) or 2 (unpaired).")
    if n < 2:
        raise ValueError(f"n is {n}; a t test needs at least 2 per group.")
    degrees = groups * (n - 1)
    shift = abs(detect) * math.sqrt(n / (groups * variance))
    edge = float(scipy.special.stdtrit(degrees, 1 - alpha / 2))
    # Below the lower edge counts too: the test is two-sided.
    return noncentral_t(degrees, shift, -edge) + 1 - noncentral_t(degrees, shift, edge)


def noncentral_t(degrees: int, shift: float, value: float) -> float:
    """Return the distribution function of the noncentral t distribution.

    scipy returns NaN for many shifts above 4; there the normal distribution is averaged over the
    quantiles of the standard deviation, which agrees with scipy within 1e-6 where both are known.

    >>> round(noncentral_t(39, 12.0, 2.02), 6), round(noncentral_t(39, 2.0, 2.02), 4)
    (0.0, 0.5027)
    """
    exact = float(scipy.special.nctdtr(degrees, shift, value))
    if math.isfinite(exact):
        return exact
    places, weights = _quadrature()
    deviations = np.sqrt(2 * scipy.special.gammaincinv(degrees / 2, (places + 1) / 2) / degrees)
    return float((weights * scipy.special.ndtr(value * deviations - shift)).sum() / 2)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Return places in [-1, 1] and weights of a sum that approximates an integral."""
    return np.polynomial.legendre.leggauss(400)


def t_sample_size(
    detect: float,
    variance: float,
    *,
    groups: int = 1,
    power: float = 0.8,
    alpha: float = 0.05,
    design_effect: float = 1.0,
) -> int:
    """Return the number of pairs (groups=1), or of units in each of two groups, that a two-sided t
    test needs to detect a mean difference, given the variance."""
    _check_target(detect, power, alpha)

    def enough(n: int) -> bool:
        return t_power(n, detect, variance, alpha=alpha, groups=groups) >= power

    return _smallest(enough, variance, design_effect)


def equivalence_power(n: int, margin: float, variance: float, *, alpha: float = 0.05) -> float:
    """Return the power of two one-sided t tests over n pairs if the true difference is 0."""
    if n < 2:
        raise ValueError(f"n is {n}; a t test needs at least 2 pairs.")
    edge = float(scipy.special.stdtrit(n - 1, 1 - alpha))
    missed = noncentral_t(n - 1, margin * math.sqrt(n / variance), edge)
    return max(0.0, 1 - 2 * missed)


def equivalence_sample_size(
    margin: float,
    variance: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    design_effect: float = 1.0,
) -> int:
    """Return the number of pairs needed to show equivalence if the true difference is 0.

    >>> equivalence_sample_size(0.5, 1.0)
    36
    """
    _check_target(margin, power, alpha)

    def enough(n: int) -> bool:
        return equivalence_power(n, abs(margin), variance, alpha=alpha) >= power

    return _smallest(enough, variance, design_effect)


def paired_share_sample_size(
    detect: float,
    discordant: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    design_effect: float = 1.0,
    exact: bool = False,
) -> int:
    """Return the number of pairs that McNemar's test needs to detect a difference (Connor 1987).

    `discordant` is the pilot share of pairs in which exactly one of the two succeeded. An exact
    test is conservative, because counts are discrete; `exact` adds a continuity correction.
    """
    if not abs(detect) < discordant <= 1:
        raise ValueError(
            f"discordant is {discordant}; it must be above the difference "
            f"{abs(detect)} and at most 1."
        )
    under_difference = math.sqrt(discordant - detect**2)
    n = _normal_n(detect, math.sqrt(discordant), under_difference, power, alpha)
    if exact:  # the correction replaces n |d| by n |d| - 1; solved for n
        n *= ((1 + math.sqrt(1 + 4 / (n * abs(detect)))) / 2) ** 2
    return _inflate(n, design_effect)


def design_effect(icc: float, sizes: Sequence[float]) -> float:
    """Return the variance inflation due to clusters of these sizes (Kish; Eldridge 2006)."""
    column = finite(sizes, "sizes")
    if column.size == 0 or (column <= 0).any():
        raise ValueError("sizes must contain at least one cluster size, and each must be positive.")
    if not -1 <= icc <= 1:
        raise ValueError(f"icc is {icc}; an intraclass correlation lies in [-1, 1].")
    mean = float(column.mean())
    spread = float(column.var()) / mean**2
    return 1 + ((spread + 1) * mean - 1) * icc


def intraclass_correlation(values: ArrayLike, clusters: Sequence[Hashable]) -> float | None:
    """Return ICC(1) by one-way analysis of variance; None if it is not defined."""
    column = finite(values, "values")
    codes, count = encode_labels(clusters, column.size, "clusters")
    n = column.size
    if count < 2 or n <= count:
        return None
    sizes = sums_by(codes, count, np.ones(n))
    means = sums_by(codes, count, column) / sizes
    between = float((sizes * (means - column.mean()) ** 2).sum()) / (count - 1)
    inside = float(((column - means[codes]) ** 2).sum()) / (n - count)
    typical = (n - float((sizes**2).sum()) / n) / (count - 1)
    total = between + (typical - 1) * inside
    return (between - inside) / total if total > 0 else None


def _smallest(enough: Callable[[int], bool], variance: float, effect: float) -> int:
    """Return the smallest n with which the power reaches the target, by bisection."""
    if not (variance > 0 and math.isfinite(variance)):
        raise ValueError(f"variance is {variance}; a pilot variance is a positive number.")
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _inflate(high, effect)


def _normal_n(detect: float, null: float, alternative: float, power: float, alpha: float) -> float:
    _check_target(detect, power, alpha)
    reach = scipy.special.ndtri(1 - alpha / 2) * null + scipy.special.ndtri(power) * alternative
    return float(reach / detect) ** 2


def _check_target(detect: float, power: float, alpha: float) -> None:
    within(power, 0, 1, "power")
    within(alpha, 0, 1, "alpha")
    if detect == 0 or not math.isfinite(detect):
        raise ValueError(f"the difference to detect is {detect}; no sample size can detect that.")


def _inflate(n: float, effect: float) -> int:
    if not effect > 0:
        raise ValueError(f"design_effect is {effect}; it must be positive.")
    # The slack keeps 64 * 1.0 from becoming 65 by rounding.
    return max(2, math.ceil(n * effect - 1e-9))
