"""How many turns a game of TradeCraft took."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.trades import FAMILY, state_of


def _measure(played: Played, seat: Seat) -> float | None:
    return None if played.episode.payoffs is None else float(state_of(played).turn)


METRIC = Metric(
    name="turns_played",
    about="turns until somebody won, or the limit",
    measure=_measure,
    games=(FAMILY,),
    unit="turns",
    headline=True,
)
