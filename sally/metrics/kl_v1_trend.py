"""Whether a seat's beliefs about the other's values grew better over the turns."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, beliefs_apart, trend


def _measure(played: Played, seat: Seat) -> float | None:
    apart = beliefs_apart(played, seat)
    return trend([(float(each.turn), each.divergence.kl) for each in apart])


METRIC = Metric(
    name="kl_v1_trend",
    about="slope of KL(V0 of the other || V1) over turns; below 0 means that beliefs improve",
    measure=_measure,
    games=(FAMILY,),
    better="lower",
    unit="nats a turn",
)
