"""The share of mental-state questions answered right, as we take kang2026 to count it."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.answers import counted


def _measure(played: Played, seat: Seat) -> float | None:
    """Questions that were put aside from play only; an unreadable answer is a wrong one."""
    asked = [
        answer
        for answer in counted(played, seat)
        if answer.truth is not None and answer.report.source == "probe"
    ]
    return sum(a.report.value == a.truth for a in asked) / len(asked) if asked else None


METRIC = Metric(
    name="tom_accuracy_published",
    about="share of questions about others answered right, unreadable as wrong (our reading)",
    measure=_measure,
    games=("toma_po", "toma_mg", "toma_sw", "toma_ag"),
    better="higher",
    published=True,
)
