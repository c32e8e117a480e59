"""Rounds per second of one scripted episode, against Axelrod, PettingZoo and TextArena.

Ours goes through the general match with a full log in memory; each peer plays as many rounds of
the same kind of game with its own fresh match or environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import axelrod
import textarena
from pettingzoo.classic import rps_v2

from benchmarks.common import time_in_turns
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.runner.seating import players_of

ROUNDS, EPISODES = 100, 20
MATRIX = ((8.0, 0.0), (10.0, 5.0))


def ours(game: str = "ipd", rounds: int = ROUNDS) -> Episode:
    """One episode of tit for tat against itself."""
    lineup = {"agent": PlayerSpec("tit_for_tat"), "partner": PlayerSpec("tit_for_tat")}
    match = Match(registry.game(game), Setup(Instance(game, game, {"rounds": rounds}), 1, lineup))
    Driver(match, players_of(match)).run()
    return match.episode()


def by_axelrod() -> None:
    axelrod.Match((axelrod.TitForTat(), axelrod.TitForTat()), turns=ROUNDS).play()


def by_pettingzoo() -> None:
    env = rps_v2.parallel_env(max_cycles=ROUNDS)
    env.reset(seed=1)
    last = 0
    while env.agents:
        env.step(dict.fromkeys(env.agents, last % 3))
        last += 1


def by_textarena() -> None:
    env = textarena.make("IteratedRockPaperScissors-v0", num_rounds=ROUNDS)
    env.reset(num_players=2, seed=1)
    done = False
    while not done:
        env.get_observation()
        done, _ = env.step("[rock]")
    env.close()


def plainly() -> None:
    """The floor: the same rounds in plain Python, with neither rules, views nor log."""
    own_move, other_move, total, past = 0, 0, 0.0, []
    for _ in range(ROUNDS):
        own_move, other_move = other_move, own_move
        total += MATRIX[own_move][other_move]
        past.append((own_move, other_move))


def repeat(job: Callable[[], object], count: int = EPISODES) -> Callable[[], object]:
    return lambda: [job() for _ in range(count)]


def main() -> None:
    seconds = time_in_turns(
        {
            "ours": repeat(ours),
            "ours, with serialised lines": repeat(lambda: to_line(ours())),
            "ours, rps": repeat(lambda: ours("rps")),
            "plain Python, no log": repeat(plainly),
            "Axelrod Match": repeat(by_axelrod),
            "PettingZoo rps_v2 parallel": repeat(by_pettingzoo, 2),
            "TextArena IteratedRockPaperScissors": repeat(by_textarena, 1),
        }
    )
    counts = {"PettingZoo rps_v2 parallel": 2, "TextArena IteratedRockPaperScissors": 1}
    rate = {n: ROUNDS * counts.get(n, EPISODES) / s for n, s in seconds.items()}
    for name, value in rate.items():
        print(f"{name:40s} {value:12,.0f} rounds/s")
    print(f"ours / Axelrod                  {rate['ours'] / rate['Axelrod Match']:6.2f}  (aim 3)")
    written = rate["ours, with serialised lines"]
    print(f"ours with lines / Axelrod       {written / rate['Axelrod Match']:6.2f}  (aim 2)")
    print(f"plain Python / ours             {rate['plain Python, no log'] / rate['ours']:6.2f}")
    for peer in counts:
        print(f"ours (rps) / {peer}: {rate['ours, rps'] / rate[peer]:.1f}  (aim 30)")
    growth()


def growth() -> None:
    """Time and bytes from 100 to 800 rounds, against eight times the short game."""
    seconds = time_in_turns({"100": repeat(ours, 8), "800": lambda: ours(rounds=800)})  # type: ignore[dict-item]
    size = len(to_line(ours(rounds=800))) / (8 * len(to_line(ours())))
    slower = seconds["800"] / seconds["100"]
    print(f"800 rounds / 8 x 100 rounds: time {slower:.2f}, log {size:.2f} (under 1.2)")


if __name__ == "__main__":
    main()
