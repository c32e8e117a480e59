"""How often what a seat said of another's mind was right."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.answers import mean_score


def _measure(played: Played, seat: Seat) -> float | None:
    share = mean_score(played, seat, "right")
    return None if share is None else 100 * share


METRIC = Metric(
    name="tom_percent",
    about="share of readable answers to probes that were right",
    measure=_measure,
    better="higher",
    unit="%",
    label="ToM %",
    headline=True,
)
