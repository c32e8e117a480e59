"""What answers that could not be read cost."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import format_loss

METRIC = Metric(
    name="format_loss",
    about="best reply's payoff in the rounds that the seat forfeited, per round",
    measure=format_loss,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
)
