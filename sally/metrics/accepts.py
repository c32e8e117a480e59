"""How often a seat agreed to what it was offered."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, trades


def _measure(played: Played, seat: Seat) -> float | None:
    answers = [t.accepted for t in trades(played) if t.proposal.to == seat]
    given = [answer for answer in answers if answer is not None]
    return sum(given) / len(given) if given else None


METRIC = Metric(
    name="accepts",
    about="share of the proposals to a seat that it accepted",
    measure=_measure,
    games=(FAMILY,),
    unit="share",
)
