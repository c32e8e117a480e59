"""Draft scenarios with twins: among drafts that look the same, every place is equally often the
answer.

Two drafts look the same if, up to the order of places, equally many agents both like and dislike
each place. A draft is taken only from a group of such drafts in which each place is the answer of
some draft: a place is drawn at random, then a draft with that answer. A solver that knows only
these numbers can do no better than guess.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sally.games.toma.balance import Floats, pick
from sally.games.toma.mg.even import Draft, drafts
from sally.games.toma.mg.rules import Profile

FIRST, FRESH = 120, 4  # drafts at the start, and before each further one
PATIENCE = 12  # consecutive rejected drafts before one is kept anyway
MOST = 12  # drafts kept per look and answer; the oldest are dropped

Row = tuple[int, ...]
Look = tuple[Row, ...]
Excess = Callable[[Sequence[Profile], int], Floats]
Kept = list[tuple[Draft, Floats]]


class Twins:
    """Draft scenarios with the same number of agents, grouped by their counts for all places and by
    the counts for the place that is the answer."""

    def __init__(self, level: int, size: int, rng: np.random.Generator, excess: Excess) -> None:
        self._source, self._rng, self._excess = drafts(level, size, rng), rng, excess
        self._kept: dict[Look, dict[Row, Kept]] = {}
        self._read(FIRST)

    def take(self, debt: Floats | None) -> tuple[Draft, Floats]:
        """Draw a group and an answer, and return the draft with that answer that best reduces
        the imbalance `debt` (see `balance.pick`)."""
        self._read(FRESH, debt)
        while not (whole := [look for look, by in self._kept.items() if set(look) == set(by)]):
            self._read(FRESH, debt)
        sizes = np.array([sum(map(len, self._kept[look].values())) for look in whole], float)
        look = whole[int(self._rng.choice(len(whole), p=sizes / sizes.sum()))]
        answer = look[int(self._rng.integers(len(look)))]
        alike = self._kept[look][answer]
        each = np.array([excess for _, excess in alike])
        found = alike.pop(pick(each, np.zeros(each.shape[1]) if debt is None else debt))
        if not alike:
            del self._kept[look][answer]
        return found

    def _read(self, many: int, debt: Floats | None = None) -> None:
        """Add more drafts, skipping those that favour rules already above chance."""
        refused = 0
        while many:
            draft = next(self._source)
            excess = self._excess(draft.agents, draft.right)
            if debt is not None and excess @ debt > 0 and refused < PATIENCE:
                refused += 1
                continue
            many, refused = many - 1, 0
            look = tuple(sorted(draft.crossed))
            alike = self._kept.setdefault(look, {}).setdefault(draft.crossed[draft.right], [])
            alike.append((draft, excess))
            del alike[:-MOST]


def balanced(
    level: int, sizes: Iterator[int], rng: np.random.Generator, excess: Excess
) -> Iterator[tuple[list[Profile], int]]:
    """Yield one draft and its answer for each number of agents in `sizes`."""
    twins: dict[int, Twins] = {}
    debt: Floats | None = None
    for size in sizes:
        if size not in twins:
            twins[size] = Twins(level, size, rng, excess)
        draft, added = twins[size].take(debt)
        debt = added if debt is None else debt + added
        yield draft.agents, draft.right
