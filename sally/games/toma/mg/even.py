"""Draft scenarios in which every place is mentioned equally often: the fourth generator.

Agents fall into groups that a reader can distinguish without knowing where any agent goes: those
without a relation, followers, and avoiders. Within each group, every place is liked once by equally
many agents, liked twice by equally many, and disliked by equally many. So every count of single
likes, double likes and dislikes, over all agents or by group, is the same for all places.

The number of agents that both like and dislike a place could still differ between places, and fewer
agents go to a place if this number is high. So every draft also fixes in advance how many agents
like each place once and dislike it, and how many like it twice and dislike it; both numbers are the
same for all four places. What remains is the reasoning that the game requires: which likes and
dislikes belong to the same agent, and which agent a relation names.
"""

from collections.abc import Iterator
from functools import cache
from itertools import accumulate, product

import numpy as np

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
from sally.games.toma.mg.rules import Profile

GROUPS = ("follows", "avoids", "alone")
Kinds = tuple[str, ...]  # agent by agent: "alone", "follows", "avoids"
# How many agents have each depth, by level and number of agents. Four and six agents at level 1
# have an empty place, which is never liked twice without being disliked; groups of three cannot be
# even; four agents at level 3 are solved by treating all agents as anchors; and with six agents,
# the places where they would go without relations give away half of the answers.
ROLES: dict[int, dict[int, tuple[int, ...]]] = {
    1: {8: (8,)},
    2: {4: (2, 2), 8: (4, 4)},
    3: {8: (2, 2, 4)},
}
# By level and number of agents, how many agents dislike a place and like it (once, twice), of which
# drafts are frequent enough.
CROSSED: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {
    (1, 8): ((1, 0), (0, 1)),
    (2, 4): ((1, 0),),
    (2, 8): ((0, 0), (1, 0), (2, 0), (3, 0)),
    (3, 8): ((1, 0), (2, 0), (3, 0)),
}
NAMED = 12 * len(GROUPS)  # of what is left: what groups name; what is to be crossed follows
# Drafts taken from one batch, which all have the same kinds: some batches give many, some few;
# otherwise nearly all drafts would be of one kind.
A_BATCH, FEW_A_BATCH = 12, 2


def drafts(level: int, size: int, rng: np.random.Generator) -> Iterator[tuple[list[Profile], int]]:
    """Yield drafts as (agents ordered by depth, emptiest place); the emptiest place is unique
    and cannot be found without the deepest agents."""
    roles = ROLES[level][size]
    patterns = kinds_of(roles)
    if size == 4:  # avoiders leave no emptiest place here
        patterns = tuple(kinds for kinds in patterns if "avoids" not in kinds)
    few = FEW_A_BATCH if level == 2 else A_BATCH
    most = few if len(patterns) > 1 else BATCH
    while True:
        kinds = patterns[int(rng.integers(len(patterns)))]
        batch = _named_evenly(roles, kinds, rng)
        right, sound = emptiest(batch, sum(roles[:-1]))
        for row in rng.permutation(np.flatnonzero(sound))[:most]:
            agents = [profile(batch, int(row), agent, rng) for agent in range(size)]
            yield agents, int(right[row])


@cache
def kinds_of(roles: tuple[int, ...]) -> tuple[Kinds, ...]:
    """Return every assignment of relations (none, follows, avoids) to agents in which each group of
    agents with the same relation is large enough to like and dislike all places equally often."""
    alone = ("alone",) * roles[0]
    drawn = product(("follows", "avoids"), repeat=sum(roles[1:]))
    found = (alone + rest for rest in drawn)
    return tuple(kinds for kinds in found if all(budgets(kinds.count(kind)) for kind in kinds))


@cache
def budgets(agents: int) -> tuple[tuple[int, int, int], ...]:
    """Return the possible triples (once, twice, dislikes) for a group of this size: how many of its
    agents have one like for a place, two likes for it, and a dislike for it. These numbers are the
    same for every place."""
    return tuple(
        (once, twice, dislikes)
        for once, twice, dislikes in product(range(7), range(4), range(5))
        if LIKES[0] * agents <= 4 * (once + 2 * twice) <= LIKES[1] * agents
        and DISLIKES[0] * agents <= 4 * dislikes <= DISLIKES[1] * agents
        and 4 * twice <= agents
    )


def _named_evenly(roles: tuple[int, ...], kinds: Kinds, rng: np.random.Generator) -> Batch:
    """Return drafts in which the agents of each group (followers, avoiders, others) like and
    dislike every place equally often. Drafts that cannot be completed in this way are dropped."""
    size, ends = len(kinds), list(accumulate(roles))
    none = np.full((BATCH, size), -1)
    allowed = [budgets(kinds.count(kind)) for kind in GROUPS] + [CROSSED[len(roles), size]]
    batch = Batch(
        np.concatenate([_drawn_of(some, rng) for some in allowed], axis=1),
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


def _drawn_of(allowed: tuple[tuple[int, ...], ...], rng: np.random.Generator) -> Small:
    """Draw one of the allowed tuples for each draft, and repeat each of its numbers for the four
    places."""
    drawn = np.array(allowed, np.int8)[rng.integers(len(allowed), size=BATCH)]
    return np.repeat(drawn, 4, axis=1)


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
    table, counts, crossed = ways(), *_counts()
    about = np.full(many, len(table.goes) - 1)
    if above is not None:
        target = rng.integers(*above, size=many)
        about = 4 * group + batch.gone[np.arange(many), target]
        batch.target[:, agent] = target
    mine = slice(12 * group, 12 * group + 12)
    after = batch.left[:, mine].T[:, :, None] - counts[:, about]
    fits = _leave_room(after, kinds[agent + 1 :].count(kinds[agent]))
    fits &= (batch.left[:, NAMED:].T[:, :, None] >= crossed[:, about]).all(axis=0)
    if above is not None:
        fits &= np.take(table.binding, about, axis=0) == (rng.random((many, 1)) < BINDING)
    chosen = (rng.random(fits.shape) * fits).argmax(axis=1)
    batch.named[:, agent] = table.counts[:, about, chosen].T
    batch.left[:, mine] -= counts[:, about, chosen].T
    batch.left[:, NAMED:] -= crossed[:, about, chosen].T
    batch.gone[:, agent] = table.goes[about, chosen]
    batch.about[:, agent] = about
    return batch.keep(fits[np.arange(many), chosen])


def _leave_room(left: Small, agents: int) -> Bools:
    """Return, for each draft and each way to describe the next agent, whether `agents` further
    agents can have exactly the likes and dislikes of each place that are still required.

    `left` holds these requirements: for each place, how many agents must have one like for it, how
    many two likes, and how many a dislike.
    """
    once, twice, dislikes = left[:4], left[4:8], left[8:]
    fits: Bools = left.min(axis=0) >= 0
    fits &= (once + twice).max(axis=0) <= agents
    fits &= twice.sum(axis=0, dtype=np.int8) <= agents
    fits &= dislikes.max(axis=0) <= agents
    for counts, (low, high) in ((once + 2 * twice, LIKES), (dislikes, DISLIKES)):
        total = counts.sum(axis=0, dtype=np.int8)
        fits &= (total >= low * agents) & (total <= high * agents)
    return fits


@cache
def _counts() -> tuple[Small, Small]:
    """Return, for each way to describe an agent, whether it has one like, two likes and a dislike
    for each place; and whether it has a dislike for the place together with one like, or with two.

    The axes are those of `Ways.counts`: place, the agent's relation, way.
    """
    counts = ways().counts
    once, twice, dislikes = counts[:4] == 1, counts[:4] == 2, counts[4:]
    named = np.concatenate([once, twice, dislikes])
    crossed = np.concatenate([once & (dislikes > 0), twice & (dislikes > 0)])
    return named.astype(np.int8), crossed.astype(np.int8)
