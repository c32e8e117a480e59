"""Whether the task was solved."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.own_predictions import ONE_SHOT, did


def _measure(played: Played, seat: Seat) -> float | None:
    right = did(played, seat)
    return None if right is None else float(right)


METRIC = Metric(
    name="task_success",
    about="1 if the choice was the right one; blank where no choice could be read (kang2026)",
    measure=_measure,
    games=ONE_SHOT,
    better="higher",
    headline=True,
)
