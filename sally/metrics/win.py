"""Whether a seat held its target at the end, alone or with others."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, state_of


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(seat in state_of(played).winners)


METRIC = Metric(
    name="win",
    about="1 where the target was in hand at the end, alone or with others; blank if censored",
    measure=_measure,
    games=(FAMILY,),
    better="higher",
    unit="share",
    headline=True,
)
