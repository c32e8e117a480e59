"""Scores of stated odds: Brier and log."""

import math
from collections.abc import Hashable, Mapping

Odds = Mapping[Hashable, float]


def brier(odds: Odds, truth: Hashable) -> float:
    """Return the squared error summed over all choices (Brier 1950): 0 is perfect, 2 the worst."""
    checked_odds(odds, truth)
    return sum((p - (choice == truth)) ** 2 for choice, p in odds.items())


def log_score(odds: Odds, truth: Hashable, *, floor: float | None = None) -> float:
    """Return minus the natural log of the truth's odds: 0 is perfect, infinite at odds of 0.

    A `floor` under the odds keeps the score finite, but then it is no longer strictly proper.
    """
    checked_odds(odds, truth)
    if floor is not None and not 0 < floor < 1:
        raise ValueError(f"floor is {floor}; it must lie strictly between 0 and 1.")
    p = odds[truth] if floor is None else max(odds[truth], floor)
    return -math.log(p) if p > 0 else math.inf


def checked_odds(odds: Odds, truth: Hashable) -> None:
    """Raise ValueError if odds are not a distribution, or the truth is not a choice."""
    if truth not in odds:
        known = ", ".join(repr(choice) for choice in odds)
        raise ValueError(f"the truth {truth!r} is not among the choices: {known}.")
    for choice, p in odds.items():
        if not 0 <= p <= 1:
            raise ValueError(f"the odds of {choice!r} are {p}; they must lie in [0, 1].")
    total = math.fsum(odds.values())
    if abs(total - 1) > 1e-6:
        raise ValueError(f"the odds sum to {total}; they must sum to 1.")
