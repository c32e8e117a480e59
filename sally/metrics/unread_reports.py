"""How often a seat's answer to a probe could not be read."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played


def _measure(played: Played, seat: Seat) -> float | None:
    mine = [r for r in played.replay.reports.values() if r.seat == seat]
    return 100 * sum(r.value is None for r in mine) / len(mine) if mine else None


METRIC = Metric(
    name="unread_reports",
    about="share of reports without a readable answer; they are not scored",
    measure=_measure,
    better="lower",
    unit="%",
)
