"""Whether the target chose the persuader's proposal."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, finished, won


def _measure(played: Played, seat: Seat) -> float | None:
    return float(won(played)[-1]) if finished(played) else None


METRIC = Metric(
    name="mindgames_success",
    about="1 if the target chose the goal in the end (moore2025)",
    measure=_measure,
    games=GAMES,
    better="higher",
    headline=True,
    label="success",
)
