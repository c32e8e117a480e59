"""How often others agreed to what a seat proposed."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, trades


def _measure(played: Played, seat: Seat) -> float | None:
    answers = [t.accepted for t in trades(played) if t.proposer == seat]
    given = [answer for answer in answers if answer is not None]
    return sum(given) / len(given) if given else None


METRIC = Metric(
    name="proposals_accepted",
    about="share of a seat's answered proposals that were accepted",
    measure=_measure,
    games=(FAMILY,),
    unit="share",
)
