"""Whether the task was solved, where an unreadable reply counts as wrong."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.own_predictions import ONE_SHOT


def _measure(played: Played, seat: Seat) -> float | None:
    payoffs = played.episode.payoffs
    return None if payoffs is None else float(payoffs[seat] == 1)


METRIC = Metric(
    name="task_success_published",
    about="1 if the choice was right, else 0, unreadable ones too (our reading of kang2026)",
    measure=_measure,
    games=ONE_SHOT,
    better="higher",
    published=True,
)
