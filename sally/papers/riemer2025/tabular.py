"""riemer2025's tabular learner: thousands of episodes at once, scored by the paper's measures and
ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from sally.analysis.bounds import metric_bounds
from sally.core.match.partner import Automaton
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.games.repeated_games.optimum import (
    Floats,
    Ints,
    machine_of,
    optimal_course,
    optimal_rate,
    optimal_reward,
    pay_table,
)
from sally.games.repeated_games.players.bulk import Rounds, drawn_luck, play_tabular
from sally.games.repeated_games.players.tabular import Settings
from sally.games.repeated_games.regret import cost_of_being_wrong, mean_loss
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.output.tables.reproduce import Effort
from sally.papers.riemer2025.study import ROUNDS
from sally.stats.cluster_interval import lone_by_rule, mean_by_rule
from sally.stats.intervals import Estimate


def partners_of(game: RepeatedGame, kind: str) -> list[Automaton[Any]]:
    """Return the partners that the learner meets: for `single_action`, one for each action, which
    always plays that action; otherwise tit for tat, which opens as if the learner had played action
    0."""
    make = registry.partners("repeated_games")[kind].automaton
    assert make is not None  # both kinds declare one
    if kind == "single_action":
        return [make(game, PARTNER, action=action) for action in game.moves_of(PARTNER)]
    return [make(game, PARTNER)]


def bulk_figures(
    name: str, kind: str, effort: Effort, settings: Settings | None = None
) -> Mapping[str, Floats]:
    """Return the three published measures of the tabular learner, one number per episode."""
    game, partners, lots, rounds = _bulk(name, kind, effort, settings)
    rates = np.array([optimal_rate(game, AGENT, partner) for partner in partners])[lots]
    return measure_regrets(game, kind, rounds, rates)


@lru_cache(maxsize=2)  # both measures of a cell's row use it, one after the other
def _bulk(
    name: str, kind: str, effort: Effort, settings: Settings | None
) -> tuple[RepeatedGame, list[Automaton[Any]], Ints, Rounds]:
    """Play many episodes of the learner and return their rounds; each partner is met equally
    often."""
    game = game_of(name)
    partners = partners_of(game, kind)
    lots = np.arange(effort.repeats) % len(partners)
    chance = Stream(effort.seed, "reproduce", name, kind).generator()
    luck = drawn_luck(effort.repeats, game.rounds, chance)
    return game, partners, lots, play_tabular(game, AGENT, partners, lots, luck, settings)


def measure_regrets(
    game: RepeatedGame, kind: str, rounds: Rounds, rates: Floats
) -> Mapping[str, Floats]:
    """Return regrets as the paper computes them, and the share of right predictions."""
    prices = cost_of_being_wrong(game, AGENT, kind)
    assert prices is not None  # these partners have prices
    wrong = rounds.predicted != rounds.other_moves
    return {
        "functional_regret": rates - _reward(game, rounds),
        "tom_regret": (wrong * prices[rounds.other_moves]).mean(axis=1),
        "tom_percent": 100 * (1 - wrong.mean(axis=1)),
    }


def _reward(game: RepeatedGame, rounds: Rounds) -> Floats:
    return np.asarray(pay_table(game, AGENT)[rounds.own_moves, rounds.other_moves].mean(axis=1))


@lru_cache(maxsize=64)
def cell(name: str, kind: str, effort: Effort) -> Mapping[str, Estimate]:
    """Return the learner's results by the paper's measures; partners are strata."""
    figures = bulk_figures(name, kind, effort)
    lots = _bulk(name, kind, effort, None)[2]
    return {
        metric: mean_by_rule(values, range(values.size), metric_bounds(metric), lots)
        for metric, values in figures.items()
    }


@lru_cache(maxsize=64)
def exact_cell(name: str, kind: str, effort: Effort) -> Mapping[str, Estimate]:
    """Return the learner's results by our own measures: regret relative to the exact optimum, and
    the loss relative to best replies."""
    game, partners, lots, rounds = _bulk(name, kind, effort, None)
    best = [optimal_reward(game, AGENT, partner) for partner in partners]
    losses = np.array(
        [
            [mean_loss(game, AGENT, game.best_replies(AGENT, predicted_move), move)
             for move in game.moves_of(PARTNER)]
            for predicted_move in game.moves_of(PARTNER)
        ]
    )  # fmt: skip
    return {
        "functional_regret": lone_by_rule(np.array(best)[lots] / ROUNDS - _reward(game, rounds)),
        "tom_regret": lone_by_rule(
            losses[rounds.predicted, rounds.other_moves].mean(axis=1), metric_bounds("tom_regret")
        ),
    }


def game_of(name: str) -> RepeatedGame:
    """Return a game with a hundred rounds, as in the paper."""
    game = registry.game(name).build({"rounds": ROUNDS})
    assert isinstance(game, RepeatedGame)
    return game


@lru_cache(maxsize=16)
def tabular_curves(name: str, kind: str, effort: Effort) -> Mapping[str, Floats]:
    """Return the mean regret and the percentage of right predictions up to each round.

    Both are arrays of shape (episode, round).
    """
    game, partners, lots, rounds = _bulk(name, kind, effort, None)
    earned = np.cumsum(pay_table(game, AGENT)[rounds.own_moves, rounds.other_moves], axis=1)
    best = np.array(
        [optimal_course(game, AGENT, machine_of(game, AGENT, p), ROUNDS) for p in partners]
    )
    so_far = np.arange(1, ROUNDS + 1)
    right = np.cumsum(rounds.predicted == rounds.other_moves, axis=1)
    return {"regret": (best[lots] - earned) / so_far, "ToM %": 100 * right / so_far}
