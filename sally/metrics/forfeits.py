"""How often no legal move could be had from a seat."""

from sally.core.game import Seat
from sally.core.log import Forfeited
from sally.core.metric import Metric, Played


def _measure(played: Played, seat: Seat) -> float:
    return float(sum(isinstance(e, Forfeited) and e.seat == seat for e in played.episode.events))


METRIC = Metric(
    name="forfeits",
    about="moves that could not be read, or were rejected, within the tries allowed",
    measure=_measure,
    better="lower",
    unit="moves",
    label="forfeits",
    headline=True,
)
