"""Bulk play of the tabular learner against the one-episode player, episode for episode.

Both learn, act and predict in every round; the one-episode player goes through the general
match with its log. Solutions of models are kept by both: by the one-episode player from
episode to episode, by bulk play only within a call.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.common import time_in_turns
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.games.repeated_games.players.bulk import drawn_luck, play_tabular
from sally.games.repeated_games.rules import AGENT
from sally.output.tables.reproduce import reproduce
from sally.papers.riemer2025.tabular import partners_of
from sally.runner.seating import players_of

ALONE, TOGETHER = 20, 2000
CELLS = [(g, p) for g in ("rps", "ibs", "ipd") for p in ("single_action", "tit_for_tat")]


def one_by_one(name: str, kind: str, episodes: int = ALONE) -> None:
    """Episodes through the match, each with a prediction in every round."""
    spec = registry.game(name)
    lineup = {"agent": PlayerSpec("tabular"), "partner": PlayerSpec(kind)}
    for seed in range(episodes):
        setup = Setup(Instance(name, name), seed, lineup, arms={"agent": ("their_move",)})
        match = Match(spec, setup)
        Driver(match, players_of(match)).run()


def at_once(name: str, kind: str, episodes: int = TOGETHER) -> None:
    """The same in bulk."""
    game: Any = registry.game(name).build({})
    partners = partners_of(game, kind)
    luck = drawn_luck(episodes, game.rounds, np.random.default_rng(1))
    play_tabular(game, AGENT, partners, np.arange(episodes) % len(partners), luck)


def main() -> None:
    worst = float("inf")
    for name, kind in CELLS:
        seconds = time_in_turns(
            {
                "alone": lambda name=name, kind=kind: one_by_one(name, kind),
                "bulk": lambda name=name, kind=kind: at_once(name, kind),
            },
            rounds=3,
        )
        ratio = (seconds["alone"] / ALONE) / (seconds["bulk"] / TOGETHER)
        worst = min(worst, ratio)
        print(f"{name} {kind:14s} bulk / one-episode player: {ratio:7.1f}")
    print(f"bulk / one-episode player, worst cell {worst:.1f}  (at least 8)")
    start = time.perf_counter()
    rows = reproduce("riemer2025:tabular")
    seconds_taken = time.perf_counter() - start
    n_different = sum(row.verdict == "different" for row in rows)
    print(
        f"reproduce riemer2025:tabular: {n_different} of {len(rows)} differ, "
        f"{seconds_taken:.1f} s  (within 60)"
    )


if __name__ == "__main__":
    main()
