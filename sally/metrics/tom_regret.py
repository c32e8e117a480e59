"""What a rational reply to the seat's predictions would have lost."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import tom_regret

METRIC = Metric(
    name="tom_regret",
    about="loss of the best reply to each prediction against the actual move, per prediction",
    measure=tom_regret,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
    label="ToM regret",
    headline=True,
)
