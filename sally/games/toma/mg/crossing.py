"""Equal numbers, at every place, of agents that both like and dislike something about the place.

In every draft, all places are liked equally often, and disliked equally often. But the number of
agents that both like and dislike a place may still differ between places, and fewer agents go to a
place if this number is high. So every draft fixes in advance how many agents like each place once
and dislike it, and how many like it twice and dislike it; both numbers are the same for all four
places.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from sally.games.toma.mg.draft import IMPOSSIBLE, Bools, Ints, Small, ways

BITS = 4  # bits of each count in one integer, including its guard bit
Packed = npt.NDArray[np.uint32]  # eight counts in 32 bits
GUARDS = np.uint32(sum(8 << BITS * place for place in range(8)))
# By level and number of agents, the counts (once, twice) for which drafts are frequent enough. Six
# agents are left out: crossed evenly, where they would go without relations gives away half.
COUNTS: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {
    (1, 8): ((1, 0), (0, 1)),
    (2, 4): ((1, 0),),
    (2, 8): ((0, 0), (1, 0), (2, 0), (3, 0)),
    (3, 8): ((1, 0), (2, 0), (3, 0)),
}


def dealt(level: int, agents: int, drafts: int, rng: np.random.Generator) -> Small:
    """Return the counts that each draft must reach: how many agents dislike place 0, 1, 2 and 3
    and like it once, then how many dislike it and like it twice."""
    allowed = np.array(COUNTS[level, agents], np.int8)
    return np.repeat(allowed[rng.integers(len(allowed), size=drafts)], 4, axis=1)


def fits(left: Small, about: Ints) -> Bools:
    """Return, for each draft and each way to describe the next agent, whether the description stays
    within the counts that remain."""
    has = (left.astype(np.uint32) << _shifts()).sum(axis=1, dtype=np.uint32) | GUARDS
    rest = np.take(_packed(), about, axis=0)
    np.subtract(has[:, None], rest, out=rest)
    rest &= GUARDS
    found: Bools = rest == GUARDS
    return found


@cache
def of_ways() -> Small:
    """Return, for each way to describe an agent, which places the agent dislikes and likes once,
    then which places it dislikes and likes twice.

    The axes are those of `Ways.counts`: place, the agent's relation, way.
    """
    counts = ways().counts
    likes, dislikes = counts[:4], counts[4:] > 0
    crossed = np.concatenate([(likes == 1) & dislikes, (likes == 2) & dislikes])
    return np.where(counts[:1] == IMPOSSIBLE, 0, crossed).astype(np.int8)


@cache
def _packed() -> Packed:
    shifted = of_ways().astype(np.uint32) << _shifts()[:, None, None]
    found: Packed = shifted.sum(0, dtype=np.uint32)
    return found


@cache
def _shifts() -> Packed:
    return BITS * np.arange(8, dtype=np.uint32)
