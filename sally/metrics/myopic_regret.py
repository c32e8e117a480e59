"""What was lost in each round for itself, whatever came of it later."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import myopic_regret

METRIC = Metric(
    name="myopic_regret",
    about="best reply to the actual move less one's move, per played round",
    measure=myopic_regret,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
)
