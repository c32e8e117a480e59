"""The score as tang2024 counts it: a reply that cannot be read the first time is wrong."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.picks import FAMILY, picks


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    right = [pick.is_right_at_once for pick in picks(played, seat)]
    return 100 * sum(right) / len(right)


METRIC = Metric(
    name="score_published",
    about="share of users whose believed box was named at the first try; unreadable is wrong",
    measure=_measure,
    games=(FAMILY,),
    better="higher",
    unit="%",
    published=True,
)
