"""The surprise at the truth under stated odds."""

from math import exp, log

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.answers import scored

FLOOR = 0.001  # odds of 0 for the truth would make one report outweigh a whole study


def _measure(played: Played, seat: Seat) -> float | None:
    found = [
        -log(max(exp(-scores["log"]), FLOOR))
        for answer, scores in scored(played, seat)
        if "log" in scores and answer.report.odds is not None
    ]
    return sum(found) / len(found) if found else None


METRIC = Metric(
    name="log_score",
    about=f"minus log of the odds stated for the truth, these taken as at least {FLOOR}",
    measure=_measure,
    better="lower",
    unit="nats",
)
