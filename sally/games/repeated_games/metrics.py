"""Metrics of repeated games: exact ones, and those published in riemer2025."""

from __future__ import annotations

from math import inf

from sally.core.rules.game import Seat
from sally.core.rules.metric import Ends, Metric, Played
from sally.games.repeated_games import conduct, policies, regret
from sally.games.repeated_games.rounds import finished, random_reward_per_round, rewards
from sally.games.repeated_games.rules import RepeatedGame
from sally.games.repeated_games.spec import a_round

PAYOFF = "payoff per round"


def _reward_per_round(played: Played, seat: Seat) -> float | None:
    earned = rewards(played, seat)
    return sum(earned) / len(earned) if earned and finished(played) else None


def a_loss(game: RepeatedGame, seat: Seat) -> Ends:
    """Return the smallest and largest possible loss of a move in a round."""
    low, high = a_round(game, seat)
    return 0.0, high - low


METRICS = (
    *conduct.METRICS,
    Metric(
        name="reward_per_round",
        about="mean payoff of the rounds that were played",
        measure=_reward_per_round,
        better="higher",
        unit=PAYOFF,
        at_random=random_reward_per_round,
    ),
    Metric(
        name="functional_regret",
        about="exact optimum of the rounds that were played, minus the reward, per played round",
        measure=regret.functional_regret,
        better="lower",
        unit=PAYOFF,
        label="functional regret",
        headline=True,
    ),
    Metric(
        name="decision_regret",
        about="value of the best move minus that of the move made, at the states visited and with "
        "optimal play after it, per decision",
        measure=regret.decision_regret,
        better="lower",
        unit=PAYOFF,
        bounds=(0.0, inf),
    ),
    Metric(
        name="functional_regret_published",
        about="long-run rate of the optimum, minus the reward per played round (riemer2025)",
        measure=regret.functional_regret_published,
        better="lower",
        unit=PAYOFF,
        published=True,
    ),
    Metric(
        name="myopic_regret",
        about="best reply to the actual move minus the move made, per played round",
        measure=regret.myopic_regret,
        better="lower",
        unit=PAYOFF,
        within=a_loss,
    ),
    Metric(
        name="inference_loss",
        about="best reply to the truth minus best reply to the prediction, per predicted round",
        measure=regret.mean_inference_loss,
        better="lower",
        unit=PAYOFF,
        within=a_loss,
    ),
    Metric(
        name="translation_loss",
        about="best reply to the prediction minus the move, per predicted round; may be below 0",
        measure=regret.mean_translation_loss,
        better="lower",
        unit=PAYOFF,
        label="translation by truth",  # the profile's translation is by the own prediction
        headline=True,
    ),
    Metric(
        name="format_loss",
        about="best reply's payoff in the rounds that the seat forfeited, per round",
        measure=regret.format_loss,
        better="lower",
        unit=PAYOFF,
    ),
    Metric(
        name="horizon_term",
        about="functional regret minus myopic regret; below 0 where patience pays",
        measure=regret.horizon_term,
        unit=PAYOFF,
    ),
    Metric(
        name="tom_regret",
        about="loss of the best reply to each prediction against the actual move, per prediction",
        measure=regret.tom_regret,
        better="lower",
        unit=PAYOFF,
        within=a_loss,
        label="ToM regret",
        headline=True,
    ),
    Metric(
        name="tom_regret_published",
        about="mean loss of the moves that are not best, for each wrong prediction (riemer2025)",
        measure=regret.tom_regret_published,
        better="lower",
        unit=PAYOFF,
        within=a_loss,
        published=True,
    ),
    *policies.METRICS,
)
