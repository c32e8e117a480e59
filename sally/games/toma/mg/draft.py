"""Drafts of minority games: each agent's likes, dislikes and relations, before any text is written.

In a draft, exactly one place meets each wish, all places are liked equally often, and all are
disliked equally often.
"""

from functools import cache
from itertools import combinations, combinations_with_replacement, product

import msgspec
import numpy as np
import numpy.typing as npt

from sally.games.toma.mg.rules import PLACES, Profile, best_places

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]

# Minimum and maximum number of wishes of an agent, and how often it may name the same place.
LIKES, MOST_LIKES_A_PLACE = (2, 3), 2
DISLIKES = (1, 2)  # each of a different place
BINDING = 0.7  # the share of relations that change where their agent goes
BATCH = 512  # drafts drawn at once
IMPOSSIBLE = 25  # more than there is to name


class AgentDescriptions(msgspec.Struct, frozen=True):
    """All descriptions of an agent (ways) that determine its place uniquely, for each `about`.

    `about` is the agent's relation: it follows an agent to place 0 to 3 (values 0 to 3), avoids an
    agent at place 0 to 3 (4 to 7), or has no relation (8). Rows are padded to equal length with
    impossible ways. Places are the first axis, here and in Batch, because numpy is fast over a long
    last axis.
    """

    counts: Small  # likes of places 0 to 3, then dislikes; about; way
    goes: Ints  # about, way: where the agent goes
    binding: Bools  # about, way: whether the relation changes where it goes


class Batch(msgspec.Struct):
    """A batch of unfinished drafts, one per row; each column is an agent, and agents are added
    one at a time."""

    left: Small  # draft: what is still to be named, likes of places 0 to 3, then dislikes
    named: Small  # draft, agent: the same, as the agent names it
    gone: Ints  # draft, agent: where it goes
    about: Ints  # draft, agent: 0 to 8 as in Ways
    target: Ints  # draft, agent: whom it follows or avoids; -1 for none

    def keep(self, rows: Bools) -> "Batch":
        """Keep only the given drafts."""
        return Batch(*(getattr(self, name)[rows] for name in self.__struct_fields__))


def emptiest(batch: Batch, above: int) -> tuple[Ints, Bools]:
    """Return the emptiest place of each draft, and whether the place is unique and cannot be
    found without the deepest agents."""
    there = batch.gone[:, :, None] == np.arange(4)
    counts = there.sum(axis=1)
    right: Ints = counts.argmin(axis=1)
    sound = (counts == counts.min(axis=1, keepdims=True)).sum(axis=1) == 1
    if above:
        seen = there[:, :above].sum(axis=1)
        least = seen == seen.min(axis=1, keepdims=True)
        sound &= (least.sum(axis=1) > 1) | ~least[np.arange(len(right)), right]
    return right, np.asarray(sound)


_AT = np.array(PLACES)


def profile(batch: Batch, row: int, agent: int, rng: np.random.Generator) -> Profile:
    """Return one agent of a draft, with its likes and dislikes in random order."""
    counts, about = batch.named[row, agent], batch.about[row, agent]
    target = int(batch.target[row, agent])
    likes, dislikes = (
        tuple((place,) for place in rng.permutation(_AT.repeat(part)).tolist())
        for part in (counts[:4], counts[4:])
    )
    follows, avoids = target if about < 4 else None, target if 4 <= about < 8 else None
    return Profile(likes, dislikes, follows, avoids)


@cache
def ways() -> AgentDescriptions:
    """Return every way to describe an agent, grouped by its relation."""
    kinds: list[tuple[str | None, int]] = [("follows", p) for p in PLACES]
    kinds += [("avoids", p) for p in PLACES] + [(None, 0)]
    tables = [_ways(kind, place) for kind, place in kinds]
    longest = max(map(len, tables))
    impossible = ([IMPOSSIBLE] * 8, 0, False)
    padded = [table + [impossible] * (longest - len(table)) for table in tables]
    counts, goes, binding = (np.array([[way[i] for way in t] for t in padded]) for i in range(3))
    return AgentDescriptions(
        np.ascontiguousarray(np.moveaxis(counts, 2, 0), np.int8), goes, binding
    )


def _ways(kind: str | None, place: int) -> list[tuple[list[int], int, bool]]:
    """Return the ways to describe an agent that follows or avoids another agent (neither, if `kind`
    is None), given that the other agent goes to `place`."""
    rows = []
    for liked, disliked in product(liked_lists(), disliked_lists()):
        one = Profile(tuple((p,) for p in liked), tuple((p,) for p in disliked))
        related = msgspec.structs.replace(one, **({kind: 0} if kind else {}))
        alone, best = best_places(one, {}), best_places(related, {0: place})
        follows = kind == "follows"
        # A follower must also have a unique place without its relation: its description is
        # complete.
        clear = len(best) == 1 and (len(alone) == 1 or not follows)
        if clear and (alone[0] if follows else best[0]) in liked:
            named = [*map(liked.count, PLACES), *map(disliked.count, PLACES)]
            rows.append((named, best[0], alone != best))
    return rows


def liked_lists() -> list[tuple[int, ...]]:
    """Return every list of places that an agent may like; a place may occur twice."""
    drawn = (c for many in LIKES for c in combinations_with_replacement(PLACES, many))
    return [c for c in drawn if max(map(c.count, c)) <= MOST_LIKES_A_PLACE]


def disliked_lists() -> list[tuple[int, ...]]:
    """Return every list of places that an agent may dislike."""
    return [c for many in DISLIKES for c in combinations(PLACES, many)]
