"""Adjustment of p values for multiple tests."""

from collections.abc import Sequence

import numpy as np

from sally.stats.columns import Floats, finite


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p values that bound the family-wise error rate (Holm 1979)."""
    p = _probabilities(p_values)
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(p.size, 0, -1)
    return _restore_order(np.minimum(np.maximum.accumulate(steps), 1.0), order)


def holm_where_known(p_values: Sequence[float | None]) -> list[float | None]:
    """Return adjusted p values in order; None stays None and does not count as a test.

    >>> holm_where_known([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def _probabilities(p_values: Sequence[float]) -> Floats:
    p = finite(p_values, "p_values")
    bad = np.flatnonzero((p < 0) | (p > 1))
    if bad.size:
        raise ValueError(f"p_values[{bad[0]}] is {p[bad[0]]}; a p value lies between 0 and 1.")
    return p


def _restore_order(
    sorted_p: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]
) -> list[float]:
    adjusted = np.empty_like(sorted_p)
    adjusted[order] = sorted_p
    return [float(p) for p in adjusted]
