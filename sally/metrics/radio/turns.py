"""How long the game took."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(len(played.replay.states[-1].guide_acts))


METRIC = Metric(
    name="radio_turns",
    about="turns until the end (kang2026)",
    measure=_measure,
    games=("toma_sw",),
    better="lower",
    unit="turns",
)
