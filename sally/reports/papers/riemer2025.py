"""riemer2025 again: the tabular learner in bulk, interestingness exactly, the rest by episodes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from sally.core import shelf
from sally.core.chance import Stream
from sally.core.metric import Played
from sally.core.partner import Automaton
from sally.games.repeated_games.optimum import interestingness, optimal_rate, pay_table
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.metrics.repeated_play import Floats, cost_of_being_wrong
from sally.players.bulk import Rounds, drawn_luck, play_tabular
from sally.players.rmax import Settings
from sally.reports.reproduce import Conditions, Effort, Engine
from sally.stats.intervals import Estimate, mean_interval

PARTNERS = ("single_action", "tit_for_tat")
ROUNDS = 100
OPENINGS = {"rps": 1, "ibs": 0, "ipd": 0}  # tit for tat's reply to action 0


def partners_of(game: RepeatedGame, kind: str) -> list[Automaton[Any]]:
    """The partners of a cell: one for every action, or tit for tat opening as on action 0."""
    make = shelf.partners("repeated_games")[kind].automaton
    assert make is not None  # both kinds declare one
    if kind == "single_action":
        return [make(game, PARTNER, action=action) for action in game.moves_of(PARTNER)]
    return [make(game, PARTNER)]


def bulk_figures(
    name: str, kind: str, effort: Effort, settings: Settings | None = None
) -> Mapping[str, Floats]:
    """The three published measures of the tabular learner, one number an episode.

    Partners take turns over the episodes, which balances a uniform draw.
    """
    game = _game(name)
    partners = partners_of(game, kind)
    lots = np.arange(effort.repeats) % len(partners)
    chance = Stream(effort.seed, "reproduce", name, kind).generator()
    luck = drawn_luck(effort.repeats, game.rounds, chance)
    rounds = play_tabular(game, AGENT, partners, lots, luck, settings)
    rates = np.array([optimal_rate(game, AGENT, partner) for partner in partners])[lots]
    return measured(game, kind, rounds, rates)


def measured(game: RepeatedGame, kind: str, rounds: Rounds, rates: Floats) -> Mapping[str, Floats]:
    """Regrets in the paper's conventions, and the share of right predictions."""
    prices = cost_of_being_wrong(game, AGENT, kind)
    assert prices is not None  # the convention is made for these partners
    reward = pay_table(game, AGENT)[rounds.mine, rounds.theirs].mean(axis=1)
    wrong = rounds.predicted != rounds.theirs
    return {
        "functional_regret": rates - reward,
        "tom_regret": (wrong * prices[rounds.theirs]).mean(axis=1),
        "tom_percent": 100 * (1 - wrong.mean(axis=1)),
    }


@lru_cache(maxsize=64)
def _cell(name: str, kind: str, effort: Effort) -> Mapping[str, Estimate]:
    figures = bulk_figures(name, kind, effort)
    return {metric: mean_interval(values) for metric, values in figures.items()}


def _game(name: str) -> RepeatedGame:
    game = shelf.game(name).build({"rounds": ROUNDS})
    assert isinstance(game, RepeatedGame)
    return game


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Figures that need no language model."""
    name, kind = str(row.get("game")), str(row.get("partner"))
    if kind not in PARTNERS:
        return None
    if row.get("player") == "tabular":
        return _cell(name, kind, effort).get(metric)
    if metric == "interestingness":
        game = _game(name)
        exact = interestingness(game, AGENT, partners_of(game, kind))
        return Estimate(exact, exact, exact, 1, "exact")
    return None


def facts(played: Played) -> Conditions | None:
    """What an episode is, in the words of the tables; None if it is not the paper's game."""
    setup, game = played.episode.setup, played.replay.game
    name = setup.instance.game
    if name not in ("rps", "ibs", "ipd") or not isinstance(game, RepeatedGame):
        return None
    standard = _game(name)
    if (game.matrix, game.rounds, game.stop_chance) != (standard.matrix, ROUNDS, 0.0):
        return None
    agent, partner = setup.lineup[AGENT], setup.lineup[PARTNER]
    if partner.params.get("first") not in (None, OPENINGS[name]):
        return None
    known: dict[str, str | int] = {
        "game": name,
        "partner": partner.player,
        "player": agent.player,
        "names": " ".join(game.names_of(AGENT)),
    }
    if agent.player != "language":
        return known
    for condition in ("model", "strategy"):
        if condition in agent.params:
            known[condition] = str(agent.params[condition])
    return {**known, **_switches(agent.params.get("with_") or {})}


def _switches(given: Mapping[str, Any]) -> Conditions:
    """A strategy's parameters as the tables name them."""
    shown = {True: "on", False: "off"}
    return {
        name: shown[value] if isinstance(value, bool) else value for name, value in given.items()
    }


METRICS = {
    "functional_regret": "functional_regret_published",
    "tom_regret": "tom_regret_published",
    "tom_percent": "tom_percent",
}

ENGINE = Engine(computes, METRICS, AGENT, facts)
