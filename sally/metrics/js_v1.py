"""The divergence of first-order beliefs, symmetric."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, mean_apart


def _measure(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "jensen_shannon")


METRIC = Metric(
    name="js_v1",
    about="mean Jensen-Shannon divergence of V1 and the other's V0 over turns",
    measure=_measure,
    games=(FAMILY,),
    better="lower",
    unit="nats",
)
