"""Whether a clue ended in a miss."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.clue import ended_as


def _measure(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "miss")


METRIC = Metric(
    name="clue_missed",
    about="1 if neither found the word (kang2026)",
    measure=_measure,
    games=("toma_ag",),
    better="",
)
