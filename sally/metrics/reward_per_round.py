"""What a seat earned in a round that was played."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.repeated_play import finished, rewards


def _measure(played: Played, seat: Seat) -> float | None:
    earned = rewards(played, seat)
    return sum(earned) / len(earned) if earned and finished(played) else None


METRIC = Metric(
    name="reward_per_round",
    about="mean payoff of the rounds that were played",
    measure=_measure,
    games=("repeated_games",),
    better="higher",
    unit="payoff per round",
)
