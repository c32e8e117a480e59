"""How many messages came back."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, finished, turned_down


def _measure(played: Played, seat: Seat) -> float | None:
    return float(turned_down(played)) if finished(played) else None


METRIC = Metric(
    name="mindgames_turned_down",
    about="messages that came back because they were false or could not be taken",
    measure=_measure,
    games=GAMES,
    better="lower",
    label="came back",
)
