"""How often both of the team spoke at once."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played


def _measure(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(sum(radio.kind == "noise" for radio in played.replay.states[-1].radio))


METRIC = Metric(
    name="radio_collisions",
    about="turns in which both spoke and nothing was heard (kang2026)",
    measure=_measure,
    games=("toma_sw",),
    better="lower",
    unit="turns",
)
