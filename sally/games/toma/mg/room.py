"""Check, for all ways to describe the next agent at once, whether a group of agents can still name
each place as often as required.

Counts are small, so all counts of a row are packed into one integer, each below a guard bit: one
subtraction decreases them all, and a cleared guard bit marks a negative count. The unpacked
version, `counted` in tests/games/toma/test_mg_room.py, gives the same result.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from sally.games.toma.mg.draft import DISLIKES, IMPOSSIBLE, LIKES, Bools, Small, ways

Wide = npt.NDArray[np.int64]
# Bits of each count, including its guard bit: places once, twice and disliked, likes, dislikes.
LEAST = (4,) * 12 + (6, 6)
# Places liked, places disliked, places liked twice together, likes, dislikes.
MOST = (4,) * 8 + (4, 6, 6)


def room(left: Small, about: npt.NDArray[np.int64], agents: int) -> Bools:
    """Return, for each draft and each way to describe the next agent, whether `agents` further
    agents can then name each place exactly as often as is still required."""
    # many drafts have the same left: each is computed once
    seen = _least(left, agents) * 16 + about
    _, first, same = np.unique(seen, return_index=True, return_inverse=True)
    found: Bools = np.take(_room(left[first], about[first], agents), same, axis=0)
    return found


def _room(left: Small, about: npt.NDArray[np.int64], agents: int) -> Bools:
    takes, gives = (np.take(table, about, axis=0) for table in _ways())
    below, above = _guards(LEAST), _guards(MOST)
    np.subtract((_least(left, agents) + below)[:, None], takes, out=takes)
    np.add((above - _most(left, agents))[:, None], gives, out=gives)
    takes &= below
    gives &= above
    found: Bools = (takes == below) & (gives == above)
    return found


def _least(left: Small, agents: int) -> Wide:
    """Return the numbers of mentions that must not fall below zero, packed into one integer per
    row."""
    counts = left.astype(np.int64)
    totals = _totals(counts) - np.array([LIKES[0], DISLIKES[0]]) * agents
    return _packed(np.concatenate([counts, totals], axis=1), LEAST)


def _most(left: Small, agents: int) -> Wide:
    """Return, packed into one integer per row, how far each required number of mentions exceeds the
    number that this many agents can make."""
    counts = left.astype(np.int64)
    totals = _totals(counts) - np.array([LIKES[1], DISLIKES[1]]) * agents
    return _packed(np.concatenate([_places(counts) - agents, totals], axis=1), MOST)


def _totals(counts: Wide) -> Wide:
    likes = counts[:, :4].sum(axis=1) + 2 * counts[:, 4:8].sum(axis=1)
    return np.stack([likes, counts[:, 8:].sum(axis=1)], axis=1)


def _places(counts: Wide) -> Wide:
    twice = counts[:, 4:8]
    return np.concatenate(
        [counts[:, :4] + twice, counts[:, 8:], twice.sum(axis=1, keepdims=True)], axis=1
    )


@cache
def _ways() -> tuple[Wide, Wide]:
    """Return how often each way to describe an agent mentions each place, packed into integers for
    `_least` and for `_most`."""
    counts = np.moveaxis(ways().counts, 0, 2).astype(np.int64)  # about, way, count
    shape, flat = counts.shape[:2], counts.reshape(-1, 8)
    likes, dislikes = flat[:, :4], flat[:, 4:]
    cells = np.concatenate([likes == 1, likes == 2, dislikes], axis=1).astype(np.int64)
    padding = (flat >= IMPOSSIBLE).any(axis=1)
    cells[padding] = 0
    takes = _packed(np.concatenate([cells, _totals(cells)], axis=1), LEAST)
    gives = _packed(np.concatenate([_places(cells), _totals(cells)], axis=1), MOST)
    # more than any group has left to dislike at a place, and still within its bits
    takes[padding] = _packed(np.array([[0] * 8 + [7] * 4 + [0, 0]]), LEAST)[0]
    return takes.reshape(shape), gives.reshape(shape)


def _packed(rows: Wide, bits: tuple[int, ...]) -> Wide:
    found: Wide = (rows << _shifts(bits)).sum(axis=1)
    return found


@cache
def _shifts(bits: tuple[int, ...]) -> Wide:
    return np.cumsum((0, *bits[:-1]))


@cache
def _guards(bits: tuple[int, ...]) -> np.int64:
    return np.int64(sum(1 << (end - 1) for end in np.cumsum(bits).tolist()))
