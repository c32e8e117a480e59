"""The exact value of hanabi_very_small beside a declared partner, by seat and by the hand one sees.

`python benchmarks/hanabi_best_reply.py simple` goes through all 24 hands of the partner for both
seats, prints each value with the nodes and seconds of processor it took, and the mean over deals.
With `simple,iggi` instead of `simple`, the partner is drawn from a pool of these bots; numbers
after the names select seats.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from itertools import permutations

from sally.core.registry import registry
from sally.games.hanabi.best_reply import BestReply
from sally.games.hanabi.rules import Hanabi


def main(of: str, seats: tuple[int, ...] = (0, 1)) -> None:
    game = registry.game("hanabi_very_small").build({})
    assert isinstance(game, Hanabi)
    hands = Counter(permutations(game.cards, game.hand_size))
    for me in seats:
        best, mean = BestReply(game, me, *of.split(",")), 0.0
        for hand, ways in sorted(hands.items(), reverse=True):
            start, before = time.process_time(), best.nodes
            value = best.dealt(hand)
            mean += value * ways / hands.total()
            took = time.process_time() - start
            print(f"{of}, seat {me}, sees {hand}: {value:.10f}; {best.nodes - before:,} nodes, "
                  f"{took:.1f} s", flush=True)  # fmt: skip
        print(f"{of}, seat {me}: {mean:.4f} of {game.highest} over all deals", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "simple", tuple(map(int, sys.argv[2:])) or (0, 1))
