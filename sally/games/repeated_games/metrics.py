"""Metrics of repeated games: exact ones, and those published in riemer2025."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from sally.core.rules.game import Seat
from sally.core.rules.metric import Ends, Metric, Played
from sally.games.repeated_games import conduct, policies, regret
from sally.games.repeated_games.rounds import is_finished, random_reward_per_round, rewards
from sally.games.repeated_games.rules import RepeatedGame
from sally.games.repeated_games.spec import a_round

PAYOFF = "payoff per round"
Measure = Callable[[Played, Seat], float | None]


def _reward_per_round(played: Played, seat: Seat) -> float | None:
    earned = rewards(played, seat)
    return sum(earned) / len(earned) if earned and is_finished(played) else None


def a_loss(game: RepeatedGame, seat: Seat) -> Ends:
    """Return the smallest and largest possible loss of a move in a round."""
    low, high = a_round(game, seat)
    return 0.0, high - low


def _loss(name: str, about: str, measure: Measure, **fields: Any) -> Metric:
    return Metric(name, about, measure, better="lower", unit=PAYOFF, **fields)


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
    _loss(
        "functional_regret",
        "exact optimum of the rounds that were played, minus the reward, per played round",
        regret.functional_regret,
        label="functional regret",
        headline=True,
    ),
    _loss(
        "decision_regret",
        "value of the best move minus that of the move made, at the states visited and with "
        "optimal play after it, per decision",
        regret.decision_regret,
        bounds=(0.0, inf),
    ),
    _loss(
        "functional_regret_published",
        "long-run rate of the optimum, minus the reward per played round (riemer2025)",
        regret.functional_regret_published,
        published=True,
    ),
    _loss(
        "myopic_regret",
        "best reply to the actual move minus the move made, per played round",
        regret.myopic_regret,
        within=a_loss,
    ),
    _loss(
        "inference_loss",
        "best reply to the truth minus best reply to the prediction, per predicted round",
        regret.mean_inference_loss,
        within=a_loss,
    ),
    _loss(
        "translation_loss",
        "best reply to the prediction minus the move, per predicted round; may be below 0",
        regret.mean_translation_loss,
        label="translation by truth",  # the profile's translation is by the own prediction
        headline=True,
    ),
    _loss(
        "format_loss",
        "best reply's payoff in the rounds that the seat forfeited, per round",
        regret.format_loss,
    ),
    Metric(
        name="horizon_term",
        about="functional regret minus myopic regret; below 0 where patience pays",
        measure=regret.horizon_term,
        unit=PAYOFF,
    ),
    _loss(
        "tom_regret",
        "loss of the best reply to each prediction against the actual move, per prediction",
        regret.tom_regret,
        within=a_loss,
        label="ToM regret",
        headline=True,
    ),
    _loss(
        "tom_regret_published",
        "mean loss of the moves that are not best, for each wrong prediction (riemer2025)",
        regret.tom_regret_published,
        within=a_loss,
        published=True,
    ),
    *policies.METRICS,
)
