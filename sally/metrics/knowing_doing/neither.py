"""Neither knew it nor did it."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.own_predictions import ONE_SHOT, cell


def _measure(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (False, False))


METRIC = Metric(
    name="knowing_doing_neither",
    about="share with a wrong prediction and the wrong choice",
    measure=_measure,
    games=ONE_SHOT,
)
