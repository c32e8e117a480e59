"""What the horizon adds to the losses of single rounds, with its sign."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import horizon_term

METRIC = Metric(
    name="horizon_term",
    about="functional regret less myopic regret; below 0 where patience pays",
    measure=horizon_term,
    games=("repeated_games",),
    unit="payoff per round",
)
