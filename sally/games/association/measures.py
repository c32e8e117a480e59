"""Summaries of per-round measures, and the metrics that all word games share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, Terms
from sally.core.rules.metric import mean as mean
from sally.games.association.minds import Mind
from sally.games.association.partners import declared_at

Find = Callable[[Played, Seat], Sequence[float]]
Split = Callable[[Played, Seat], Sequence[tuple[float, float]]]  # inference and translation
FEWEST = 3  # rounds for a trend


def slope(values: Sequence[float]) -> float | None:
    """Return the least-squares change per round; None with fewer than three rounds."""
    if len(values) < FEWEST:
        return None
    return float(np.polyfit(np.arange(len(values)), np.array(values, dtype=float), 1)[0])


def declared_mind(played: Played, seat: Seat, number: int) -> Mind | None:
    """Return the mind that a seat's player declares for a round; None if it declares none."""
    spec = played.episode.setup.lineup[seat]
    return declared_at(Mind, spec.params, number) if spec.player == "associates" else None


def learning(
    game: str, regrets: Find, where: str = "round", unit: str = "points per round"
) -> tuple[Metric, ...]:
    """Return the learning metrics: the regret in the first and last rounds, and its trend."""
    preposition = "on" if where == "board" else "of"

    def regret_at(name: str, index: int) -> Metric:
        def measure(played: Played, seat: Seat) -> float | None:
            values = regrets(played, seat)
            return values[index] if values else None

        about = f"regret {preposition} the {name} {where}"
        return Metric(f"{game}_regret_{name}", about, measure, better="lower")

    return (
        regret_at("first", 0),
        regret_at("last", -1),
        Metric(
            f"{game}_regret_slope",
            f"change of regret from {where} to {where}; below 0: the partner is being learned",
            lambda played, seat: slope(regrets(played, seat)),
            better="lower",
            unit=f"{unit} and {where}",
        ),
    )


def losses(
    game: str, split: Split, inference: str, translation: str, unit: str = ""
) -> tuple[Metric, ...]:
    """Return the metrics of the losses from failing to predict the partner and from failing to act
    on the prediction."""

    def loss(name: str, about: str) -> Metric:
        def measure(played: Played, seat: Seat) -> float | None:
            loss_mean: float | None = getattr(mean_terms(split(played, seat)), name)
            return loss_mean

        return Metric(f"{game}_{name}", about, measure, better="lower", unit=unit)

    return loss("inference", inference), loss("translation", translation)


def mean_terms(parts: Sequence[tuple[float, float]], format: float | None = None) -> Terms:
    """Return the mean losses over decisions, each given as (inference, translation)."""
    return Terms(
        inference=mean([loss for loss, _ in parts]),
        translation=mean([loss for _, loss in parts]),
        format=format,
    )
