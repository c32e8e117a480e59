"""At what rate a seat offers what it values for what it values."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, priced, trend


def _measure(played: Played, seat: Seat) -> float | None:
    return trend(priced(played, seat))


METRIC = Metric(
    name="offer_slope",
    about="slope of offered on requested V0 over a seat's proposals in one episode",
    measure=_measure,
    games=(FAMILY,),
)
