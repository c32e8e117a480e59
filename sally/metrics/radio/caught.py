"""Whether the eavesdropper guessed right."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(played.replay.states[-1].outcome == "loss")


METRIC = Metric(
    name="radio_caught",
    about="1 if the eavesdropper guessed a cell; what is neither won nor caught ran out of turns",
    measure=_measure,
    games=("toma_sw",),
    better="",
)
