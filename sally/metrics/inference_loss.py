"""The part of a round's loss that comes from predicting wrongly."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import mean_inference_loss

METRIC = Metric(
    name="inference_loss",
    about="best reply to the truth less best reply to one's prediction, per predicted round",
    measure=mean_inference_loss,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
)
