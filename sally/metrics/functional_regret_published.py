"""Functional regret as riemer2025 reports it: against the rate of the optimum."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import functional_regret_published

METRIC = Metric(
    name="functional_regret_published",
    about="long-run rate of the optimum, less the reward per played round (riemer2025)",
    measure=functional_regret_published,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
    published=True,
)
