"""How much value a seat puts on the table for what it asks."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, priced


def _measure(played: Played, seat: Seat) -> float | None:
    found = priced(played, seat)
    asked = sum(request for request, _ in found)
    return sum(offer for _, offer in found) / asked if asked else None


METRIC = Metric(
    name="offer_share",
    about="total V0 offered over total V0 requested in a seat's proposals",
    measure=_measure,
    games=(FAMILY,),
)
