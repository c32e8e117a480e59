"""Whether the team got the treasure."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.games.toma.sw_rules import EAVESDROPPER


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None or seat == EAVESDROPPER:
        return None
    return float(played.replay.states[-1].outcome == "win")


METRIC = Metric(
    name="radio_won",
    about="1 if the explorer got the treasure; the mean is the win rate (kang2026)",
    measure=_measure,
    games=("toma_sw",),
    better="higher",
    headline=True,
)
