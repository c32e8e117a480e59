"""Values with their intervals as text."""

from __future__ import annotations

from collections.abc import Sequence


def figure(value: float, interval: Sequence[float] | None, places: int | None) -> str:
    """Format a value with its interval: `1.00 ±0.20` if symmetric, else `1.00 [0.70, 1.10]`."""
    if places is None:
        are_integers = all(x == int(x) for x in (value, *(interval or ())))
        places = 0 if are_integers else 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1
    if interval is None:
        return f"{value:.{places}f}"
    low, high = interval
    if abs((high - value) - (value - low)) < 0.5 * 10**-places:
        return f"{value:.{places}f} ±{high - value:.{places}f}"
    return f"{value:.{places}f} [{low:.{places}f}, {high:.{places}f}]"
