"""The squared error of stated odds."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.answers import mean_score


def _measure(played: Played, seat: Seat) -> float | None:
    return mean_score(played, seat, "brier", only_with_odds=True)


METRIC = Metric(
    name="brier",
    about="squared error of stated odds, summed over choices: 0 perfect, 2 worst (Brier 1950)",
    measure=_measure,
    better="lower",
)
