"""Scores of stated odds: Brier, log, accuracy of the top choice, calibration."""

import math
from collections.abc import Hashable, Mapping

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from sally.stats.columns import finite, same_length

Odds = Mapping[Hashable, float]


class Bin(msgspec.Struct, frozen=True):
    """One bin of a calibration curve: the number of forecasts between `low` and `high`, their mean,
    and the share that came true."""

    low: float
    high: float
    n: int
    forecast: float | None
    share: float | None


class Calibration(msgspec.Struct, frozen=True):
    """A calibration curve and its expected error: the mean gap, weighted by bin size."""

    bins: tuple[Bin, ...]
    error: float | None
    n: int


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


def top_choice_accuracy(odds: Odds, truth: Hashable) -> float:
    """Return 1 if the likeliest choice is the truth, 1/k if it is one of k likeliest, else 0."""
    checked_odds(odds, truth)
    top = _top(odds)
    return 1 / len(top) if truth in top else 0.0


def calibration_curve(forecasts: ArrayLike, outcomes: ArrayLike, *, bins: int = 10) -> Calibration:
    """Return the share of forecasts that came true, in bins of equal width."""
    p, came_true = finite(forecasts, "forecasts"), finite(outcomes, "outcomes")
    same_length("forecasts", p.size, "outcomes", came_true.size)
    if bins < 1:
        raise ValueError(f"bins is {bins}; at least one is needed.")
    for name, column in (("forecasts", p), ("outcomes", came_true)):
        bad = np.flatnonzero((column < 0) | (column > 1))
        if bad.size:
            raise ValueError(f"{name}[{bad[0]}] is {column[bad[0]]}; it must lie in [0, 1].")
    edges = np.linspace(0, 1, bins + 1)
    # The last bin includes 1; comparing with the edges puts 0.3 into the bin that starts at 0.3.
    place = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, bins - 1)
    rows: list[Bin] = []
    gap = 0.0
    for i in range(bins):
        here = place == i
        n = int(here.sum())
        forecast = float(p[here].mean()) if n else None
        share = float(came_true[here].mean()) if n else None
        rows.append(Bin(float(edges[i]), float(edges[i + 1]), n, forecast, share))
        if forecast is not None and share is not None:
            gap += n * abs(forecast - share)
    return Calibration(tuple(rows), gap / p.size if p.size else None, p.size)


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


def _top(odds: Odds) -> list[Hashable]:
    """Return the likeliest choices; odds that differ by rounding only are tied."""
    best = max(odds.values())
    return [choice for choice, p in odds.items() if p >= best - 1e-9]
