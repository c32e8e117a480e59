"""How often the believed box was named, among the questions that were answered."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.picks import FAMILY, picks, share_right


def _measure(played: Played, seat: Seat) -> float | None:
    return share_right(picks(played, seat))


METRIC = Metric(
    name="score",
    about="share of answered questions in which the believed box was named; forfeits apart",
    measure=_measure,
    games=(FAMILY,),
    better="higher",
    unit="%",
)
