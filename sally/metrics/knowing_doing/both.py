"""Knew it and did it."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.own_predictions import ONE_SHOT, cell


def _measure(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (True, True))


METRIC = Metric(
    name="knowing_doing_both",
    about="share with every prediction right and the right choice",
    measure=_measure,
    games=ONE_SHOT,
)
