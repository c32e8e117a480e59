"""Draft scenarios in which every place is mentioned equally often.

Agents fall into groups that a reader can distinguish without knowing where any agent goes: those
without a relation, followers, and avoiders. Within each group, every place is liked once by equally
many agents, liked twice by equally many, and disliked by equally many. So every count of single
likes, double likes and dislikes, over all agents or by group, is the same for all places. What
remains is the reasoning that the game requires: which likes and dislikes belong to the same agent,
and which agent a relation names.
"""

from collections.abc import Iterator
from functools import cache
from itertools import accumulate, product
from typing import NamedTuple

import numpy as np

from sally.games.toma.mg import crossing
from sally.games.toma.mg.draft import (
    BATCH,
    BINDING,
    DISLIKES,
    LIKES,
    Batch,
    Bools,
    Small,
    emptiest,
    profile,
    ways,
)
from sally.games.toma.mg.room import room
from sally.games.toma.mg.rules import Profile

GROUPS = ("follows", "avoids", "alone")
Kinds = tuple[str, ...]  # agent by agent: "alone", "follows", "avoids"
# Sizes at which this is possible within an agent's number of wishes. Four and six agents at level 1
# have an empty place, which is never liked twice without being disliked; groups of three cannot be
# even; four agents at level 3 are solved by treating all agents as anchors.
ROLES: dict[int, dict[int, tuple[int, ...]]] = {
    1: {8: (8,)},
    2: {4: (2, 2), 6: (2, 4), 8: (4, 4)},
    3: {6: (2, 2, 2), 8: (2, 2, 4)},
}
NAMED = 12 * len(GROUPS)  # of what is left: what groups name; what is to be crossed follows
# Drafts taken from one batch, which all have the same kinds: some batches give many, some few;
# otherwise nearly all evenly crossed drafts would be of one kind.
A_BATCH, FEW_A_BATCH = 12, 2


class Draft(NamedTuple):
    """A draft: agents by depth, the emptiest place, and the number of agents that both like and
    dislike each place."""

    agents: list[Profile]
    right: int
    crossed: tuple[tuple[int, ...], ...]  # place by place


def drafts(
    level: int, size: int, rng: np.random.Generator, crossed_evenly: bool = False
) -> Iterator[Draft]:
    """Yield drafts whose emptiest place is unique and cannot be found without the deepest
    agents."""
    roles = ROLES[level][size]
    patterns = kinds_of(roles)
    if crossed_evenly and size == 4:  # avoiders leave no emptiest place here
        patterns = tuple(kinds for kinds in patterns if "avoids" not in kinds)
    few = FEW_A_BATCH if crossed_evenly and level == 2 else A_BATCH
    most = few if len(patterns) > 1 else BATCH
    while True:
        kinds = patterns[int(rng.integers(len(patterns)))]
        batch = _named_evenly(roles, kinds, rng, crossed_evenly)
        right, sound = emptiest(batch, sum(roles[:-1]))
        for row in rng.permutation(np.flatnonzero(sound))[:most]:
            agents = [profile(batch, int(row), agent, rng) for agent in range(size)]
            yield Draft(agents, int(right[row]), _crossed(batch.named[row]))


def _crossed(named: Small) -> tuple[tuple[int, ...], ...]:
    """Return, for each place, how many agents dislike it but like it once, and how many dislike
    it but like it twice."""
    likes, dislikes = named[:, :4], named[:, 4:] > 0
    once, twice = ((likes == n) & dislikes for n in (1, 2))
    return tuple(zip(once.sum(axis=0).tolist(), twice.sum(axis=0).tolist(), strict=True))


@cache
def kinds_of(roles: tuple[int, ...]) -> tuple[Kinds, ...]:
    """Return every assignment of relations to agents that makes each group large enough to name
    all places equally often."""
    alone = ("alone",) * roles[0]
    drawn = product(("follows", "avoids"), repeat=sum(roles[1:]))
    found = (alone + rest for rest in drawn)
    return tuple(kinds for kinds in found if all(budgets(kinds.count(kind)) for kind in kinds))


@cache
def budgets(agents: int) -> tuple[tuple[int, int, int], ...]:
    """Return the possible (once, twice, dislikes) for a group of this size: how many of its
    agents like a place once, like it twice, and dislike it, the same for every place."""
    return tuple(
        (once, twice, dislikes)
        for once, twice, dislikes in product(range(7), range(4), range(5))
        if LIKES[0] * agents <= 4 * (once + 2 * twice) <= LIKES[1] * agents
        and DISLIKES[0] * agents <= 4 * dislikes <= DISLIKES[1] * agents
        and 4 * twice <= agents
    )


def _named_evenly(
    roles: tuple[int, ...], kinds: Kinds, rng: np.random.Generator, crossed_evenly: bool
) -> Batch:
    """Return drafts whose groups name each place equally often; draws that reach a dead end are
    dropped."""
    size, ends = len(kinds), list(accumulate(roles))
    none = np.full((BATCH, size), -1)
    to_name = [_left(kinds, kind, rng) for kind in GROUPS]
    if crossed_evenly:
        to_name.append(crossing.dealt(len(roles), size, BATCH, rng))
    batch = Batch(
        np.concatenate(to_name, axis=1),
        np.zeros((BATCH, size, 8), np.int8),
        none.copy(),
        none.copy(),
        none.copy(),
    )
    for agent in range(size):
        depth = next(level for level, end in enumerate(ends) if agent < end)
        above = (0 if depth < 2 else ends[depth - 2], ends[depth - 1]) if depth else None
        batch = _with_agent(batch, agent, kinds, above, rng)
    crossed_all: Bools = (batch.left[:, NAMED:] == 0).all(axis=1)
    return batch.keep(crossed_all)


def _left(kinds: Kinds, kind: str, rng: np.random.Generator) -> Small:
    """Return how often the agents of a group must like each place once, like it twice, and dislike
    it, for each draft."""
    agents = kinds.count(kind)
    if not agents:
        return np.zeros((BATCH, 12), np.int8)
    allowed = np.array(budgets(agents), np.int8)
    return np.repeat(allowed[rng.integers(len(allowed), size=BATCH)], 4, axis=1)


def _with_agent(
    batch: Batch,
    agent: int,
    kinds: Kinds,
    above: tuple[int, int] | None,
    rng: np.random.Generator,
) -> Batch:
    """Return the drafts with one more agent; with `above`, the new agent is related to an earlier
    agent whose index is in this range."""
    many, group = len(batch.gone), GROUPS.index(kinds[agent])
    table, counts = ways(), _cells()
    about = np.full(many, len(table.goes) - 1)
    if above is not None:
        target = rng.integers(*above, size=many)
        about = 4 * group + batch.gone[np.arange(many), target]
        batch.target[:, agent] = target
    mine = slice(12 * group, 12 * group + 12)
    fits = room(batch.left[:, mine], about, kinds[agent + 1 :].count(kinds[agent]))
    if crossed_evenly := batch.left.shape[1] > NAMED:
        fits &= crossing.fits(batch.left[:, NAMED:], about)
    if above is not None:
        fits &= np.take(table.binding, about, axis=0) == (rng.random((many, 1)) < BINDING)
    draws = rng.random(fits.shape)
    draws *= fits
    chosen = draws.argmax(axis=1)
    batch.named[:, agent] = table.counts[:, about, chosen].T
    batch.left[:, mine] -= counts[:, about, chosen].T
    if crossed_evenly:
        batch.left[:, NAMED:] -= crossing.of_ways()[:, about, chosen].T
    batch.gone[:, agent] = table.goes[about, chosen]
    batch.about[:, agent] = about
    return batch.keep(fits[np.arange(many), chosen])


@cache
def _cells() -> Small:
    """Return, for each way to describe an agent, whether it likes each place once, likes it twice,
    and dislikes it."""
    counts = ways().counts
    likes, dislikes = counts[:4], counts[4:]
    return np.concatenate([likes == 1, likes == 2, dislikes]).astype(np.int8)
