"""Whether the password got through."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.games.toma.sw_rules import EAVESDROPPER


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None or seat == EAVESDROPPER:
        return None
    return float(played.replay.states[-1].opened_in > 0)


METRIC = Metric(
    name="radio_box_opened",
    about="1 if the box was opened; the mean is the box-open rate (kang2026)",
    measure=_measure,
    games=("toma_sw",),
    better="higher",
    headline=True,
)
