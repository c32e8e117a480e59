"""Generator of the blocks: scenarios grouped by the depth at which reasoners score above chance.

A block of depth d (0 to 3) uses the knowledge structure of kang2026's level d. A reasoner of depth
d or more answers every scenario of the block correctly. Shallower reasoners do not beat chance:

- Depth 2 and 3: the others' costs are drawn so that the predictions of depth d - 1 always collide.
  That reasoner therefore always answers "failure", which is right in a fifth of block 2 and never
  in block 3 (where each agent avoids the tasks of the agents before it); so it does no better than
  a constant answer.
- The player's own costs are assigned to the tasks by permutations that are drawn independently of
  the others' choices, so no rule over the player's row, and no reasoner of depth 0, beats chance.
- No cost of another agent is below the player's lowest cost, so the smallest cost in the prompt is
  the lowest of the player's row and adds no information to that row. Rules over columns are
  balanced by selection (see `balance`).

One strategy cannot be excluded by any set: a player may predict some of the others correctly, rule
out the predicted tasks even if two predictions collide, and guess among the remaining two or three
tasks. The player's row gives no information about which of these is right.

The blocks are not certified against other rules: the selection of collisions leaves a short rule
that is right in nearly all scenarios of blocks 2 and 3 (`benchmarks/rule_search.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import msgspec
import numpy as np
import numpy.typing as npt

from sally.games.toma.balance import Floats, dealt, pick
from sally.games.toma.po import generators
from sally.games.toma.po.cost_matrices import (
    COSTS,
    Ints,
    answers,
    certified_scenarios,
    excess_of,
    without_ties,
)
from sally.games.toma.po.rules import FAILURE, Scenario

DEPTHS = (0, 1, 2, 3)
POOL = 6000  # candidate costs of the others drawn at a time
FAILS_IN = 5  # in block 2 failure is right in one of this many scenarios
Bools = npt.NDArray[np.bool_]


def scenarios(depth: int, seed: int) -> Iterator[Scenario]:
    """Yield the scenarios of one block indefinitely, determined by the seed."""
    if depth not in DEPTHS:
        raise ValueError(f"Depth {depth} does not exist: the certified set has depths 0 to 3.")
    stem = f"po-certified-D{depth}-{seed}"
    if depth < 2:
        for index, scenario in enumerate(generators.scenarios(depth, seed)):
            yield msgspec.structs.replace(scenario, id=f"{stem}-{index + 1}")
    rng = np.random.default_rng([3, seed, depth])
    yield from certified_scenarios(depth, _balanced_matrices(depth, rng), stem, rng)


def _balanced_matrices(depth: int, rng: np.random.Generator) -> Iterator[tuple[Ints, int]]:
    """Yield cost matrices (a row for each agent, a column for each task) with their right answers.
    The matrices are selected so that rules that compare whole columns are right no more often than
    chance."""
    debt: Floats = np.zeros(1)
    # drawn separately, so that the ranks of the right task are exactly even
    orders = {fails: dealt(list(permutations(range(4))), rng) for fails in (False, True)}
    for turn in dealt(range(FAILS_IN), rng):
        fails = depth == 2 and turn == 0
        own_costs = np.sort(rng.choice(np.arange(*COSTS), size=4, replace=False))
        # room above it for the others
        own_costs[0] = rng.integers(COSTS[0], min(own_costs[1], COSTS[0] + 20))
        costs, right = _fitting(depth, own_costs, np.array(next(orders[fails])), fails, rng)
        excess = np.hstack(
            [
                excess_of(depth, costs, right),
                generators.leans(costs, right),
                _patterns(costs, right),
            ]
        )
        chosen = pick(excess, debt)
        debt = debt + excess[chosen]
        yield costs[chosen], int(right[chosen])


def _fitting(
    depth: int, own_costs: Ints, order: Ints, fails: bool, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return cost matrices in which the predictions of shallower reasoners collide, and their right
    answers.

    `order` holds the ranks of the player's costs for four tasks: those that roles 1, 2 and 3 take,
    and the remaining one. So the player's costs do not reveal which agent takes which task.
    """
    while True:
        others = rng.integers(own_costs[0] + 1, COSTS[1], size=(POOL, 3, 4))
        others = others[_collides(depth, others)]
        roles = _roles_of_tasks(depth, others)
        own_rows = np.empty((len(others), 1, 4), dtype=np.int64)
        np.put_along_axis(
            own_rows[:, 0], roles, np.broadcast_to(own_costs[order], roles.shape), axis=1
        )
        costs = without_ties(np.concatenate([own_rows, others], axis=1))
        right = answers(depth, costs)
        keep = (right == FAILURE) == fails
        if keep.any():
            return costs[keep], right[keep]


def _firsts(rows: Ints, *excluded: Ints) -> Ints:
    """Return the cheapest task of each row; each array in `excluded` excludes one task of each
    row."""
    costs_left = rows.copy()
    for tasks in excluded:
        np.put_along_axis(costs_left, tasks[:, None], COSTS[1] + 1, axis=1)
    cheapest: Ints = costs_left.argmin(axis=1)
    return cheapest


def _collides(depth: int, others: Ints) -> Bools:
    """Return, for each matrix, whether a reasoner of depth `depth - 1` predicts a collision that
    does not happen.

    At depth 2, this is the case if the first choice of the first agent equals that of the second or
    the third agent: the collision is predicted, but the second and third agents both avoid the
    first agent's task. A collision between only the second and the third agent is not included,
    because it really happens, so a reasoner of depth 1 predicts it correctly.

    At depth 3, this is the case if the first and second agents have the same first choice, and the
    third agent, if it avoided only that choice, would take the task to which the second agent
    moves.
    """
    first_role, two, three = (others[:, role] for role in range(3))
    first = _firsts(first_role)
    if depth == 2:
        return np.asarray((_firsts(two) == first) | (_firsts(three) == first))
    wants_same = _firsts(two) == first
    return np.asarray(wants_same & (_firsts(three, first) == _firsts(two, first)))


def _roles_of_tasks(depth: int, others: Ints) -> Ints:
    """Return the four tasks of each cost matrix, ordered by the role that takes them: role 1, 2, 3,
    then the tasks that no role takes."""
    first_role, two, three = (others[:, role] for role in range(3))
    first = _firsts(first_role)
    second = _firsts(two, first)
    third = _firsts(three, first, second) if depth == 3 else _firsts(three, first)
    tasks = np.stack([first, second, third], axis=1)
    keys = np.full((len(others), 4), 3)
    for role in (2, 1, 0):  # where two collide, the lower role keeps the task
        np.put_along_axis(keys, tasks[:, role : role + 1], role, axis=1)
    order: Ints = np.argsort(keys, axis=1, kind="stable")
    return order


def _patterns(costs: Ints, right: Ints) -> Floats:
    """Return a column for `balance.pick`, which chooses scenarios so that the sum of each column
    stays near 0.

    The column concerns the scenarios in which all other agents have the same first choice: it keeps
    the share of those with the answer "failure" near 1 / `FAILS_IN`.
    """
    first = costs[:, 1:].argmin(axis=2)
    alike = (first == first[:, :1]).all(axis=1)
    fails = (right == FAILURE) - 1 / FAILS_IN
    return np.asarray(np.where(alike, fails, 0.0)[:, None])
