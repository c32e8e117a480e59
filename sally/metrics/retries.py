"""How often a seat had to be asked again."""

from sally.core.game import Seat
from sally.core.log import Forfeited, Moved, Reported
from sally.core.metric import Metric, Played


def _measure(played: Played, seat: Seat) -> float:
    answers = (e for e in played.episode.events if isinstance(e, Moved | Forfeited | Reported))
    return float(sum(e.tries - 1 for e in answers if e.seat == seat))


METRIC = Metric(
    name="retries",
    about="tries beyond the first, over moves and probes",
    measure=_measure,
    better="lower",
    unit="tries",
)
