"""The step race once more, written from its description alone, to hold the game's rules to it.

Positions are counted by hand: no function of `sally.games.step_race` is used here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Moves = tuple[int, int, int]


def play(
    turns: Sequence[Moves], target: int, start: Moves = (0, 0, 0)
) -> tuple[list[Moves], list[float] | None]:
    """The positions after each turn, and the points once a player has arrived."""
    standing = dict(enumerate(start))
    moves_after: list[Moves] = []
    for chosen in turns:
        often = Counter(chosen)
        for player, number in enumerate(chosen):
            if number and often[number] == 1:
                standing[player] += number
        moves_after.append((standing[0], standing[1], standing[2]))
        if any(steps >= target for steps in standing.values()):
            leaders = [p for p in standing if standing[p] == max(standing.values())]
            return moves_after, [(p in leaders) / len(leaders) for p in range(3)]
    return moves_after, None
