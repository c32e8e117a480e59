"""What a seat got out of the episode."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played


def _measure(played: Played, seat: Seat) -> float | None:
    payoffs = played.episode.payoffs
    return None if payoffs is None else payoffs.get(seat)


METRIC = Metric(
    name="reward",
    about="total payoff; blank where the episode was censored",
    measure=_measure,
    better="higher",
    unit="payoff",
)
