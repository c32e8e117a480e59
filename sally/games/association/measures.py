"""Summaries of per-round measures, and the metrics that all word games share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played

Measure = Callable[[Played, Seat], float | None]
Find = Callable[[Played, Seat], Sequence[float]]
Split = Callable[[Played, Seat], Sequence[tuple[float, float]]]  # inference and translation
FEWEST = 3  # rounds for a trend


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None for an empty sequence."""
    return sum(values) / len(values) if values else None


def first(values: Sequence[float]) -> float | None:
    """Return the first value, or None for an empty sequence."""
    return values[0] if values else None


def last(values: Sequence[float]) -> float | None:
    """Return the last value, or None for an empty sequence."""
    return values[-1] if values else None


def slope(values: Sequence[float]) -> float | None:
    """Return the least-squares change per round; None with fewer than three rounds."""
    if len(values) < FEWEST:
        return None
    return float(np.polyfit(np.arange(len(values)), np.array(values, dtype=float), 1)[0])


def of(find: Find, sum_up: Callable[[Sequence[float]], float | None]) -> Measure:
    """Return a measure that computes per-round values with `find` and summarises them with
    `sum_up`."""
    return lambda played, seat: sum_up(find(played, seat))


def learning(
    game: str, regrets: Find, where: str = "round", unit: str = "points per round"
) -> tuple[Metric, ...]:
    """Return the learning metrics: the regret in the first and last rounds, and its trend."""
    before = "on" if where == "board" else "of"
    return (
        Metric(
            f"{game}_regret_first",
            f"regret {before} the first {where}",
            of(regrets, first),
            better="lower",
        ),
        Metric(
            f"{game}_regret_last",
            f"regret {before} the last {where}",
            of(regrets, last),
            better="lower",
        ),
        Metric(
            f"{game}_regret_slope",
            f"change of regret from {where} to {where}; below 0: the partner is being learned",
            of(regrets, slope),
            better="lower",
            unit=f"{unit} and {where}",
        ),
    )


def losses(
    game: str, split: Split, inference: str, translation: str, unit: str = ""
) -> tuple[Metric, ...]:
    """Return the metrics of the losses from failing to predict the partner and from failing to act
    on the prediction."""
    texts = (("inference", inference), ("translation", translation))
    return tuple(
        Metric(f"{game}_{name}", about, of(_part(split, n), mean), better="lower", unit=unit)
        for n, (name, about) in enumerate(texts)
    )


def _part(split: Split, n: int) -> Find:
    return lambda played, seat: [lost[n] for lost in split(played, seat)]
