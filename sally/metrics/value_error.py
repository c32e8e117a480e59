"""How far a seat's reports of what things are worth were from the truth."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.answers import mean_score


def _measure(played: Played, seat: Seat) -> float | None:
    return mean_score(played, seat, "absolute_error")


METRIC = Metric(
    name="value_error",
    about="mean absolute error of value reports, over the items that were given a value",
    measure=_measure,
    better="lower",
    unit="points of the scale",
)
