"""Knew it and did not do it: the knowing-doing gap."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.own_predictions import ONE_SHOT, cell


def _measure(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (True, False))


METRIC = Metric(
    name="knowing_doing_knew_only",
    about="share with every prediction right and the wrong choice",
    measure=_measure,
    games=ONE_SHOT,
)
