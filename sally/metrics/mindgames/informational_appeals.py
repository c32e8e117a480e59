"""How much was asked about knowledge."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, finished, new_appeals


def _measure(played: Played, seat: Seat) -> float | None:
    return (
        float(sum(len(asked.cells) for asked in new_appeals(played))) if finished(played) else None
    )


METRIC = Metric(
    name="mindgames_informational_appeals",
    about="cells that the target was asked about",
    measure=_measure,
    games=GAMES,
    label="cells asked",
)
