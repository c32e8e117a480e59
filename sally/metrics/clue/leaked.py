"""Whether a clue ended in a leak."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.clue import ended_as


def _measure(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "leak")


METRIC = Metric(
    name="clue_leaked",
    about="1 if both found the word (kang2026)",
    measure=_measure,
    games=("toma_ag",),
    better="lower",
    headline=True,
)
