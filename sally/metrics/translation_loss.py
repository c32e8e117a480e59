"""The part of a round's loss that comes from not acting on one's prediction."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import mean_translation_loss

METRIC = Metric(
    name="translation_loss",
    about="best reply to one's prediction less one's move, per predicted round; may be below 0",
    measure=mean_translation_loss,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
    label="translation",
    headline=True,
)
