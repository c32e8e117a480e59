"""How long the target was won over, without look-ahead."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, finished, won


def _measure(played: Played, seat: Seat) -> float | None:
    return sum(won(played)) / len(won(played)) if finished(played) else None


METRIC = Metric(
    name="mindgames_time_at_goal",
    about="share of messages after which the target would choose the goal",
    measure=_measure,
    games=GAMES,
    better="higher",
    label="time at goal",
)
