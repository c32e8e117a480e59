"""What was lost, round by round, against exact optimal play of the whole episode."""

from sally.core.metric import Metric
from sally.metrics.repeated_play import functional_regret

METRIC = Metric(
    name="functional_regret",
    about="exact optimum of the rounds that were played, less the reward, per played round",
    measure=functional_regret,
    games=("repeated_games",),
    better="lower",
    unit="payoff per round",
    label="regret",
    headline=True,
)
