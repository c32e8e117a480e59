"""How much was told."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, disclosures, finished


def _measure(played: Played, seat: Seat) -> float | None:
    return float(sum(disclosures(played))) if finished(played) else None


METRIC = Metric(
    name="mindgames_disclosures",
    about="cells told in the game, repeated ones included",
    measure=_measure,
    games=GAMES,
    headline=True,
    label="told",
)
