"""What we add to a call: a model without delay, one hundred rounds, against TextArena's loop.

Both seats are taken by agents that answer at once. Ours are language players, with pages rendered,
prompts hashed, replies read and every call logged; TextArena's see its observation, and its
environment reads their reply.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import textarena
from common import interleaved

from sally.core import shelf
from sally.core.drive import play_async
from sally.core.log import Episode, Instance, Setup, Sitter, to_line
from sally.core.match import Match
from sally.models.stub import Scripted
from sally.runner.seating import players_of, resolved

ROUNDS = 100
shelf.add(
    "models", "at_once", lambda name: Scripted(lambda shown, settings: "Option: R", count=len)
)


def ours(rounds: int = ROUNDS, probed: bool = False) -> Episode:
    """One episode of rock paper scissors between two language players."""
    lineup = {seat: Sitter("language", {"model": "at_once"}) for seat in ("agent", "partner")}
    arms = {"agent": ("their_move",)} if probed else {}
    setup = resolved(Setup(Instance("rps", "rps", {"rounds": rounds}), 1, lineup, arms=arms))
    match = Match(shelf.game("rps"), setup)
    asyncio.run(play_async(match, players_of(match)))
    episode = match.episode()
    to_line(episode)  # as it is stored
    return episode


def by_textarena(rounds: int = ROUNDS) -> None:
    """As many rounds of TextArena's own game, with agents that answer at once."""
    env = textarena.make("IteratedRockPaperScissors-v0", num_rounds=rounds)
    env.reset(num_players=2, seed=1)
    agents: dict[int, Callable[[str], str]] = {0: lambda seen: "[rock]", 1: lambda seen: "[rock]"}
    done = False
    while not done:
        player, seen = env.get_observation()
        done, _ = env.step(agents[player](seen))
    env.close()


def calls(episode: Episode) -> int:
    return sum(len(getattr(event, "calls", ())) for event in episode.events)


def main() -> None:
    made = calls(ours())
    assert made == 2 * ROUNDS, "every decision must be one call"
    seconds = interleaved(  # of the processor, which other work on the machine changes less
        {
            "ours": ours,
            "ours, probed": lambda: ours(probed=True),
            "ours, 800 rounds": lambda: ours(800),
            "TextArena": by_textarena,
            "TextArena, 800 rounds": lambda: by_textarena(800),
        },
        clock=time.process_time,
    )
    each = {
        "ours": seconds["ours"] / made,
        "ours, probed": seconds["ours, probed"] / (3 * ROUNDS),
        "ours, 800 rounds": seconds["ours, 800 rounds"] / (8 * made),
        "TextArena": seconds["TextArena"] / (2 * ROUNDS),
        "TextArena, 800 rounds": seconds["TextArena, 800 rounds"] / (16 * ROUNDS),
    }
    for name, value in each.items():
        print(f"{name:22s} {1e3 * value:8.3f} ms a call")
    print(
        f"ours / TextArena, 100 rounds     {each['ours'] / each['TextArena']:6.2f}  (at most 0.5)"
    )
    long = each["ours, 800 rounds"] / each["TextArena, 800 rounds"]
    print(f"ours / TextArena, 800 rounds     {long:6.2f}  (at most 0.5)")
    growth = each["ours, 800 rounds"] / each["ours"]
    print(f"800 rounds / 100 rounds, a call  {growth:6.2f}  (flat: about 1)")


if __name__ == "__main__":
    main()
