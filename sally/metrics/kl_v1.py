"""How far a seat's beliefs about the other's values were from the other's own report."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, mean_apart


def _measure(played: Played, seat: Seat) -> float | None:
    return mean_apart(played, seat, "kl")


METRIC = Metric(
    name="kl_v1",
    about="mean KL(V0 of the other || V1 of the seat) over turns; .5 added, normalised to 1",
    measure=_measure,
    games=(FAMILY,),
    better="lower",
    unit="nats",
    headline=True,
)
