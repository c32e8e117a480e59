"""What we add to a call: a model without delay, one hundred rounds, against TextArena's loop.

Both seats are taken by agents that answer at once, so that what is measured is all but the model.
Either side makes one call a seat and round, writes the whole page that its agent is shown, reads
the reply and steps its rules; both episodes are made anew, from their parameters. Ours hashes every
prompt besides, logs every call, writes the episode as its line for the store, and goes through an
event loop, which it keeps from episode to episode as a run does. TextArena's does none of that.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

import textarena

from benchmarks.common import time_in_turns
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.prompt.model import Reply, Usage
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.runner.seating import players_of, resolve_setup

ROUNDS = 100
LONG = 800


class AtOnce(Scripted):
    """A model that gives one reply and does nothing else, as TextArena's agents below do."""

    reply = Reply("Option: R", usage=Usage(input=0, output=3, evaluated=0, cost=0.0))

    async def complete(self, *args: object) -> Reply:
        return self.reply


registry.add("models", "at_once", lambda name: AtOnce(lambda page, settings: ""))


def setup_of(rounds: int, probed: bool = False) -> Setup:
    """Rock paper scissors between two language players, checked as a study is before its run."""
    lineup = {seat: PlayerSpec("language", {"model": "at_once"}) for seat in ("agent", "partner")}
    arms: dict[str, tuple[str, ...]] = {"agent": ("their_move",)} if probed else {}
    return resolve_setup(Setup(Instance("rps", "rps", {"rounds": rounds}), 1, lineup, arms=arms))


def ours(setup: Setup, loop: asyncio.Runner) -> Episode:
    """One episode, as a run plays and stores it."""
    match = Match(registry.game("rps"), setup)
    loop.run(Driver(match, players_of(match)).arun())
    episode = match.episode()
    to_line(episode)
    return episode


def by_textarena(rounds: int = ROUNDS) -> int:
    """As many rounds of TextArena's own game, with agents that answer at once; its calls."""
    env = textarena.make("IteratedRockPaperScissors-v0", num_rounds=rounds)
    env.reset(num_players=2, seed=1)
    agents: dict[int, Callable[[str], str]] = {0: lambda page: "[rock]", 1: lambda page: "[rock]"}
    done, n_calls = False, 0
    while not done:
        player, observation = env.get_observation()
        done, _ = env.step(agents[player](observation))
        n_calls += 1
    env.close()
    return n_calls


def calls(episode: Episode) -> int:
    return sum(len(getattr(event, "calls", ())) for event in episode.events)


def main() -> None:
    plain, probed, long = setup_of(ROUNDS), setup_of(ROUNDS, probed=True), setup_of(LONG)
    with asyncio.Runner() as loop:
        n_calls = {
            "ours": calls(ours(plain, loop)),
            "ours, probed": calls(ours(probed, loop)),
            "ours, 800 rounds": calls(ours(long, loop)),
            "TextArena": by_textarena(ROUNDS),
            "TextArena, 800 rounds": by_textarena(LONG),
        }
        assert n_calls["ours"] == n_calls["TextArena"] == 2 * ROUNDS, "every decision is one call"
        seconds = time_in_turns(  # of the processor, which other work on the machine changes less
            {
                "ours": lambda: ours(plain, loop),
                "ours, probed": lambda: ours(probed, loop),
                "ours, 800 rounds": lambda: ours(long, loop),
                "TextArena": by_textarena,
                "TextArena, 800 rounds": lambda: by_textarena(LONG),
            },
            rounds=21,
            clock=time.process_time,
        )
    seconds_per_call = {name: took / n_calls[name] for name, took in seconds.items()}
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, value in seconds_per_call.items():
        print(f"{name:22s} {1e3 * value:8.3f} ms a call")
    short = seconds_per_call["ours"] / seconds_per_call["TextArena"]
    late = seconds_per_call["ours, 800 rounds"] / seconds_per_call["TextArena, 800 rounds"]
    print(f"ours / TextArena, 100 rounds     {short:6.2f}  (at most 0.5)")
    print(f"ours / TextArena, 800 rounds     {late:6.2f}  (at most 0.5)")
    growth = seconds_per_call["ours, 800 rounds"] / seconds_per_call["ours"]
    print(f"800 rounds / 100 rounds, a call  {growth:6.2f}  (flat: about 1)")


if __name__ == "__main__":
    main()
