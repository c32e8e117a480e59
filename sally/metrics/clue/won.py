"""Whether a clue ended in a win."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.clue import ended_as


def _measure(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "win")


METRIC = Metric(
    name="clue_won",
    about="1 if the teammate found the word and the opponent did not (kang2026)",
    measure=_measure,
    games=("toma_ag",),
    better="higher",
    headline=True,
)
