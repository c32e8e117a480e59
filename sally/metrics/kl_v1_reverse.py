"""The divergence of first-order beliefs, the other way round."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, mean_apart


def _measure(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "reverse")


METRIC = Metric(
    name="kl_v1_reverse",
    about="mean KL(V1 of the seat || V0 of the other) over turns; .5 added, normalised to 1",
    measure=_measure,
    games=(FAMILY,),
    better="lower",
    unit="nats",
)
