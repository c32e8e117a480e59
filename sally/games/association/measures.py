"""How a measure of rounds is summed up: its mean, its first and last value, its trend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FEWEST = 3  # rounds for a trend


def mean(values: Sequence[float]) -> float | None:
    """The mean, or None of nothing."""
    return sum(values) / len(values) if values else None


def first(values: Sequence[float]) -> float | None:
    """The first value, or None where there is none."""
    return values[0] if values else None


def last(values: Sequence[float]) -> float | None:
    """The last value, or None where there is none."""
    return values[-1] if values else None


def slope(values: Sequence[float]) -> float | None:
    """The change from one round to the next, by least squares; None with fewer than three."""
    if len(values) < FEWEST:
        return None
    return float(np.polyfit(np.arange(len(values)), np.array(values, dtype=float), 1)[0])
