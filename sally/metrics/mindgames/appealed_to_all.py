"""Whether everything in the target's mind was asked for, rankings counted."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, appealed_to_all, finished


def _measure(played: Played, seat: Seat) -> float | None:
    return float(appealed_to_all(played, inferential=True)) if finished(played) else None


METRIC = Metric(
    name="mindgames_appealed_to_all",
    about="1 if every like and cell was asked for by the end; asking for a ranking asks for both",
    measure=_measure,
    games=GAMES,
    headline=True,
    label="asked all",
)
