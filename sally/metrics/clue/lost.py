"""Whether a clue ended in a loss."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.clue import ended_as


def _measure(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "loss")


METRIC = Metric(
    name="clue_lost",
    about="1 if only the opponent found the word (kang2026)",
    measure=_measure,
    games=("toma_ag",),
    better="lower",
)
