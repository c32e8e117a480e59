"""Did it without knowing it."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.own_predictions import ONE_SHOT, cell


def _measure(played: Played, seat: Seat) -> float | None:
    return cell(played, seat, (False, True))


METRIC = Metric(
    name="knowing_doing_did_only",
    about="share with a wrong prediction and the right choice",
    measure=_measure,
    games=ONE_SHOT,
)
