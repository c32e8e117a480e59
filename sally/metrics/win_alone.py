"""Whether a seat was the only one to reach its target."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, state_of


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(state_of(played).winners == (seat,))


METRIC = Metric(
    name="win_alone",
    about="1 where a seat was the only winner",
    measure=_measure,
    games=(FAMILY,),
    better="higher",
    unit="share",
)
