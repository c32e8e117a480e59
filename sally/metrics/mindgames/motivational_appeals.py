"""How much was asked about likes."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, finished, new_appeals


def _measure(played: Played, seat: Seat) -> float | None:
    return (
        float(sum(len(asked.likes) for asked in new_appeals(played))) if finished(played) else None
    )


METRIC = Metric(
    name="mindgames_motivational_appeals",
    about="attributes whose worth to the target was asked for",
    measure=_measure,
    games=GAMES,
    label="likes asked",
)
