"""Generator of the partially observable game: seeded, certified and balanced scenarios.

The player's own costs are drawn first and carry no information: the kind of right answer (mission
failure, or the task of a given rank among the player's costs) is drawn independently of them, and
the others' costs are drawn to match it. So no rule over the player's row beats the best constant
answer. Rules over whole columns are balanced by selection (see `balance`).

In a first generator the magnitudes of the player's costs revealed the answer (.31 to .48, chance
.20 to .25); it is in the history of the repository (commit 3c02f87a).
"""

from collections.abc import Iterator

import numpy as np

from sally.games.toma.balance import Floats, dealt, pick
from sally.games.toma.po.cost_matrices import (
    COSTS,
    Ints,
    answers,
    certified_scenarios,
    certify,
    excess_of,
    needs_its_level,
    rank,
    without_ties,
)
from sally.games.toma.po.rules import FAILURE, Scenario

__all__ = ["KINDS", "certify", "scenarios"]

# The kinds of right answer by level, dealt evenly: mission failure, or the rank of the right task
# among the player's costs. At level 1 the player's dearest task can never be right.
FAILS = -1
KINDS: dict[int, tuple[int, ...]] = {
    0: (0,),
    1: (FAILS, 0, 1, 2),
    2: (FAILS, 0, 1, 2, 3),
    3: (0, 1, 2, 3),
    4: (0, 1, 2, 3),
}
POOL = 1200  # candidate costs of the others drawn at a time
SPREAD = 60  # range of the player's costs at level 4; else its dearest task is hardly ever best


def scenarios(level: int, seed: int) -> Iterator[Scenario]:
    """Yield certified scenarios of one level indefinitely, determined by the seed."""
    if level not in KINDS:
        raise ValueError(f"Level {level} does not exist: the game has levels 0 to 4.")
    rng = np.random.default_rng([2, seed, level])
    yield from certified_scenarios(
        level, _balanced_matrices(level, rng), f"po2-L{level}-{seed}", rng
    )


def _balanced_matrices(level: int, rng: np.random.Generator) -> Iterator[tuple[Ints, int]]:
    """Yield cost matrices, one row per role, with their right answers; rules over whole columns are
    kept at chance."""
    debt: Floats = np.zeros(1)
    for kind in dealt(KINDS[level], rng):
        costs, right = _fitting(level, _own_row(level, rng), kind, rng)
        excess = np.hstack([excess_of(level, costs, right), leans(costs, right)])
        chosen = pick(excess, debt)
        debt = debt + excess[chosen]
        yield costs[chosen], int(right[chosen])


def _own_row(level: int, rng: np.random.Generator) -> Ints:
    """Draw four different costs, close together at level 4."""
    low, high = COSTS
    if level == 4:
        low = int(rng.integers(low, high - SPREAD))
        high = low + SPREAD
    return rng.choice(np.arange(low, high), size=4, replace=False)


def _fitting(level: int, own_costs: Ints, kind: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return random cost matrices and their right answers, where the player has the costs
    `own_costs` and
    the right answer is of this kind: failure, or the task with this rank among the player's costs.
    """
    while True:
        others = rng.integers(*COSTS, size=(POOL, 3, 4))
        own_rows = np.broadcast_to(own_costs, (POOL, 1, 4))
        costs = without_ties(np.concatenate([own_rows, others], axis=1))
        right = answers(level, costs)
        kinds = np.where(right == FAILURE, FAILS, rank(costs[:, 0], right))
        keep = (kinds == kind) & needs_its_level(level, costs, right)
        if keep.any():
            return costs[keep], right[keep]


def leans(costs: Ints, right: Ints) -> Floats:
    """Return how much the right task differs from the average task in the sum, the minimum and the
    maximum of the others' costs."""
    is_task = (right != FAILURE)[:, None]
    others = costs[:, 1:]
    numbers = [others.sum(axis=1), others.min(axis=1), others.max(axis=1)]
    columns = []
    for number in numbers:
        right_number = np.take_along_axis(number, (right % 4)[:, None], axis=1)
        columns.append(
            np.where(is_task, (right_number - number.mean(axis=1)[:, None]) / COSTS[1], 0.0)
        )
    return np.hstack(columns)
