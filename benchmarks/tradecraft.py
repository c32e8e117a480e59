"""Two-player games of 15 turns a second, two crafts a player-turn, through the general match.

Both players trade back and forth, and each crafts twice in every phase (a plank into a button is
never undone, so hands keep changing), over instances with fresh hands, with the full log kept.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.problem_sets.tradecraft import certify
from sally.core.log.events import Instance, PlayerSpec, Setup, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.partner import Scripted
from sally.core.match.player import Turn
from sally.core.registry import registry
from sally.games.tradecraft.actions import DONE, NO, YES, Craft, Propose
from sally.games.tradecraft.hands import Hand
from sally.games.tradecraft.instances import instance_set, named_ruleset

TURNS, GAMES, WOODS = 15, 100, ("oak", "birch", "spruce")


def problem(n: int) -> Instance:
    """Hands that last for all turns; each game has other amounts and another wood."""
    wood = WOODS[n % len(WOODS)]
    hands = [
        {f"{wood}_planks": 60 + n, "coal": 5 + n % 7, "cobblestone": 20 + n % 11},
        {f"{wood}_planks": 61 + n, "raw_iron": 6 + n % 5, "cobblestone": 21 + n % 13},
    ]
    params = {"hands": hands, "targets": [{"observer": 1}, {"comparator": 1}], "max_turns": TURNS}
    return Instance(f"bench-{n}", "tradecraft", params)


def trader(wood: str) -> Scripted:
    """Offers a stone for a stone, takes every other trade, crafts twice, stops."""
    button = Craft(((f"{wood}_planks", "1"),), f"{wood}_button", 1)
    sticks = Craft(((f"{wood}_planks", "2"),), "stick", 4)
    proposals: Mapping[str, Propose] = {
        player: Propose(
            player, (("cobblestone", "2"),), (("cobblestone", "1"),), "A stone for two?"
        )
        for player in ("p1", "p2")
    }

    def play(turn: Turn) -> Any:
        view = turn.view
        if view.phase == "propose":
            return proposals["p2" if view.seat == "p1" else "p1"]
        if view.phase == "decide":
            return YES if view.turn % 2 else NO
        last = view.story.last
        if last is None or last.kind != "crafted":
            return button
        return sticks if last.craft is button or last.craft == button else DONE

    return Scripted(play)


def game(n: int) -> Match:
    """One game to its end."""
    lineup = {
        "p1": PlayerSpec("random"),
        "p2": PlayerSpec("random"),
    }  # the seats' names; bots sit there
    match = Match(registry.game("tradecraft"), Setup(problem(n), n, lineup))
    player = trader(WOODS[n % len(WOODS)])
    Driver(match, {"p1": player, "p2": player}).run()
    return match


def main() -> None:
    played = game(0)
    crafts = sum(getattr(e, "action", None).__class__ is Craft for e in played.events)
    print(f"a game has {len(played.replay)} steps, {crafts} crafts, {played.state.turn} turns")
    assert crafts == 2 * 2 * TURNS
    rates, lines = [], []
    for run in range(7):
        start = time.process_time()
        for n in range(GAMES):
            match = game(1000 * run + n)
        rates.append(GAMES / (time.process_time() - start))
        start = time.process_time()
        for _ in range(GAMES):
            to_line(match.episode())
        lines.append(GAMES / (time.process_time() - start))
    best = max(rates)  # a busy machine only ever slows a run down
    print(f"games a second on one core: {median(rates):,.0f}, best {best:,.0f} (at least 300)")
    print(f"log lines written a second: {median(lines):,.0f}")
    print(f"certifying an instance: {1000 * certifying():.1f} ms at the median (below 50)")


def certifying() -> float:
    """The median seconds of a certificate over the shipped two-player instances."""
    seconds = []
    for name in ("minecraft_core_2p_2", "alchemy_2p", "invented_2p"):
        shipped_set = instance_set(name)
        rules = named_ruleset(shipped_set.ruleset, shipped_set.settings)
        for instance in shipped_set.instances[::4]:
            start = time.process_time()
            certify(rules, [Hand(h) for h in instance.hands], [Hand(t) for t in instance.targets])
            seconds.append(time.process_time() - start)
    return median(seconds)


if __name__ == "__main__":
    main()
