"""What the disclosures came to in the target's eyes."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, final_lead, finished


def _measure(played: Played, seat: Seat) -> float | None:
    return float(final_lead(played)) if finished(played) else None


METRIC = Metric(
    name="mindgames_lead",
    about="the goal's value to the target minus that of the best other proposal, at the end",
    measure=_measure,
    games=GAMES,
    better="higher",
    label="lead",
)
