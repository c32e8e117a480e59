"""How many of the value reports asked of a seat were complete."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, reporting


def _measure(played: Played, seat: Seat) -> float | None:
    found = reporting(played, seat)
    return found.whole / found.asked if found.asked else None


METRIC = Metric(
    name="whole_reports",
    about="share of value reports that value every item; partial and refused ones are not",
    measure=_measure,
    games=(FAMILY,),
    better="higher",
    unit="share",
)
