"""Equal numbers, at every place, of agents that both like and dislike something about the place.

In an even draft all places are liked equally often, and disliked equally often. How often a like
and a dislike come from the same agent may still differ, and fewer agents go to places where they
do. So every draft fixes in advance how many agents like each place once and dislike it, and how
many like it twice and dislike it; both numbers are the same for all four places.
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
    """Return the counts that each draft must reach: for places 0 to 3 disliked and liked once, then
    for places 0 to 3 disliked and liked twice."""
    allowed = np.array(COUNTS[level, agents], np.int8)
    return np.repeat(allowed[rng.integers(len(allowed), size=drafts)], 4, axis=1)


def fits(left: Small, about: Ints) -> Bools:
    """Return, for each draft and way, whether the way stays within the remaining counts."""
    has = (left.astype(np.uint32) << _shifts()).sum(axis=1, dtype=np.uint32) | GUARDS
    rest = np.take(_packed(), about, axis=0)
    np.subtract(has[:, None], rest, out=rest)
    rest &= GUARDS
    found: Bools = rest == GUARDS
    return found


@cache
def of_ways() -> Small:
    """Return, for each way to describe an agent, the places disliked and liked once, then those
    disliked and liked twice.

    The axes are those of `Ways.counts`: places, about, way.
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
