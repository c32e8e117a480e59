"""ToM regret as riemer2025 reports it: a fixed price for each wrong prediction."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import tom_regret_published

METRIC = Metric(
    name="tom_regret_published",
    about="mean loss of the moves that are not best, for each wrong prediction (riemer2025)",
    measure=tom_regret_published,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
    published=True,
)
