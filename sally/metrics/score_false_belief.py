"""The score over users whose belief was false."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.picks import FAMILY, picks, share_right


def _measure(played: Played, seat: Seat) -> float | None:
    return share_right(picks(played, seat), lambda pick: pick.is_false_belief)


METRIC = Metric(
    name="score_false_belief",
    about="share of answered questions that were right, among users with a false belief",
    measure=_measure,
    games=(FAMILY,),
    better="higher",
    unit="%",
)
