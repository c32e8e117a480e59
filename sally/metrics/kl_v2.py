"""How far a seat's second-order beliefs were from the other's first-order report."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, mean_apart


def _measure(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "kl", 2)


METRIC = Metric(
    name="kl_v2",
    about="mean KL(V1 of the other || V2 of the seat); blank unless the other reports V1",
    measure=_measure,
    games=(FAMILY,),
    better="lower",
    unit="nats",
)
