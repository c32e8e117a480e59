"""Whether everything in the target's mind was asked for in so many words."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, appealed_to_all, finished


def _measure(played: Played, seat: Seat) -> float | None:
    return float(appealed_to_all(played, inferential=False)) if finished(played) else None


METRIC = Metric(
    name="mindgames_appealed_to_all_literally",
    about="1 if every like and cell was asked for by the end, not counting questions for a ranking",
    measure=_measure,
    games=GAMES,
    label="asked all, literally",
)
