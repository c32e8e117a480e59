"""Cost matrices of the partially observable game: their answers, and which shortcuts they allow."""

from collections.abc import Iterable, Iterator
from itertools import permutations

import msgspec
import numpy as np
import numpy.typing as npt

from sally.games.toma.balance import Floats, dealt
from sally.games.toma.po.rules import (
    FAILURE,
    SHAPES,
    Scenario,
    answer,
    best_assignment,
    check,
    known_costs,
    predictions,
)
from sally.games.toma.po.stories import stories

Ints = npt.NDArray[np.int64]

# The share of each kind of right answer by level: mission failure, then the player's cheapest,
# second, third and dearest task. `shortcuts` explains why level 1 differs.
SHARES: dict[int, tuple[float, ...]] = {
    0: (0, 1, 0, 0, 0),
    1: (1 / 4, 1 / 4, 1 / 4, 1 / 4, 0),
    2: (1 / 5, 1 / 5, 1 / 5, 1 / 5, 1 / 5),
    3: (0, 1 / 4, 1 / 4, 1 / 4, 1 / 4),
    4: (0, 1 / 4, 1 / 4, 1 / 4, 1 / 4),
}
COSTS = (5, 140)  # tenths: 0.5 to 13.9, the range of the paper's printed scenarios
ORDERS = np.array(list(permutations(range(4))))


def certified_scenarios(
    level: int, matrices: Iterable[tuple[Ints, int]], stem: str, rng: np.random.Generator
) -> Iterator[Scenario]:
    """Yield a certified scenario for each cost matrix, one row per role, and its right answer; the
    ids are `stem` and a number."""
    seats, places = dealt(range(4), rng), dealt(range(4), rng)
    names = dealt(list(stories()), rng)
    for index, (costs, right) in enumerate(matrices):
        order = listing(right, next(places) if right != FAILURE else None, rng)
        scenario = seat_roles(level, costs[:, order], next(seats), next(names), rng)
        scenario = msgspec.structs.replace(scenario, id=f"{stem}-{index + 1}")
        certify(scenario)
        yield scenario


def certify(scenario: Scenario) -> None:
    """Raise ValueError unless the scenario is well formed and every rule has a unique outcome."""
    check(scenario)
    cells = [cost for row in scenario.costs for cost in row]
    if len(set(cells)) < len(cells):
        raise ValueError(f"Scenario {scenario.id}: two of its sixteen costs are equal.")
    totals = {sum(row[task] for row in scenario.costs) for task in range(4)}
    known_totals = {sum(row[task] for row in known_costs(scenario) if row) for task in range(4)}
    if min(len(totals), len(known_totals)) < 4:
        raise ValueError(f"Scenario {scenario.id}: two tasks cost the same in total.")
    best_assignment(scenario)  # raises on a tie, at every level
    right = answer(scenario)
    if right == FAILURE and scenario.level not in (1, 2):
        raise ValueError(
            f"Scenario {scenario.id}: the answer cannot be failure at level {scenario.level}."
        )
    if len(predictions(scenario)) != len(SHAPES[scenario.level][0]):
        raise ValueError(
            f"Scenario {scenario.id}: {len(predictions(scenario))} agents are predictable, not "
            f"{len(SHAPES[scenario.level][0])}."
        )


def without_ties(costs: Ints) -> Ints:
    """Return the matrices in which all costs differ, all column totals differ, and the best
    assignment is unique."""
    flat = np.sort(costs.reshape(len(costs), 16), axis=1)
    costs = costs[(np.diff(flat, axis=1) > 0).all(axis=1)]
    for rows in (4, 3):  # all roles, and those known at level 1
        totals = np.sort(costs[:, :rows].sum(axis=1), axis=1)
        costs = costs[(np.diff(totals, axis=1) > 0).all(axis=1)]
    two_best = np.sort(assignment_totals(costs), axis=1)[:, :2]
    unique: Ints = costs[two_best[:, 0] < two_best[:, 1]]
    return unique


def assignment_totals(costs: Ints) -> Ints:
    """Return the total cost of each of the 24 assignments."""
    totals: Ints = costs[:, np.arange(4), ORDERS].sum(axis=2)
    return totals


def answers(level: int, costs: Ints) -> Ints:
    """Return the right option of the player (role 0) for each matrix; this is a vectorised version
    of the exact solver."""
    if level == 4:
        best: Ints = ORDERS[assignment_totals(costs).argmin(axis=1), 0]
        return best
    is_taken = np.zeros((len(costs), 4, 4), dtype=bool)  # by role: the task it takes
    for role in (1, 2, 3, 0):
        avoided = is_taken[:, list(SHAPES[level][role])].any(axis=1)
        choice = np.where(avoided, COSTS[1], costs[:, role]).argmin(axis=1)
        is_taken[np.arange(len(costs)), role, choice] = True
    collide = (is_taken[:, list(SHAPES[level][0])].sum(axis=1) > 1).any(axis=1)
    options: Ints = np.where(collide, FAILURE, is_taken[:, 0].argmax(axis=1))
    return options


def needs_its_level(level: int, costs: Ints, right: Ints) -> npt.NDArray[np.bool_]:
    """Return, for each matrix, whether avoiding the others' first choices is no better than
    taking the player's own cheapest task (levels 2 and 3; always true at other levels)."""
    if level not in (2, 3):
        return np.ones(len(costs), dtype=bool)
    needs: npt.NDArray[np.bool_] = (_spare(costs) != right) | (costs[:, 0].argmin(axis=1) == right)
    return needs


def _spare(costs: Ints) -> Ints:
    """Return the player's cheapest task among those that are the first choice of the fewest
    others."""
    demand = np.eye(4, dtype=np.int64)[costs[:, 1:].argmin(axis=2)].sum(axis=1)
    spare: Ints = (demand * COSTS[1] + costs[:, 0]).argmin(axis=1)
    return spare


def excess_of(level: int, costs: Ints, right: Ints) -> Floats:
    """Return each shortcut's score on each candidate minus the share of right answers it should
    have.

    A shortcut takes the task that ranks first (or last, for its inverse) by some number, so the
    rank of the right task is balanced for each of these numbers: own cost, column total, smallest
    and largest cost of the column, the player's advantage over the others, and distance from the
    player's mean cost. At level 1, where the most expensive task is never right, the last number is
    replaced by four others: the total, smallest and largest cost of a task over the player and the
    two agents that it can predict, and the cost of the task for the fourth agent.
    """
    own_costs, totals = costs[:, 0], costs.sum(axis=1)
    numbers = [totals, costs.min(axis=1), costs.max(axis=1), 4 * own_costs - totals]
    if level == 1:
        known_rows = costs[:, :3]
        numbers += [
            known_rows.sum(axis=1),
            known_rows.min(axis=1),
            known_rows.max(axis=1),
            costs[:, 3],
        ]
    else:
        numbers += [np.abs(4 * own_costs - own_costs.sum(axis=1)[:, None])]
    is_task = right != FAILURE
    shares = np.array(SHARES[level])
    kinds = np.where(is_task, 1 + rank(own_costs, right), 0)
    columns = [np.eye(5)[kinds] - shares]
    for number in numbers:
        hits = np.eye(4)[rank(number, right)] * is_task[:, None]
        columns.append(hits - (1 - shares[0]) / 4)
    if level == 4:
        columns.append((_spare(costs) == right)[:, None] - 1 / 4)
    return np.concatenate(columns, axis=1)


def rank(number: Ints, right: Ints) -> Ints:
    """Return the rank of the right task when tasks are sorted by `number` (meaningless if the right
    answer is mission failure)."""
    right_number = np.take_along_axis(number, (right % 4)[:, None], axis=1)
    n_smaller: Ints = (number < right_number).sum(axis=1)
    return n_smaller


def listing(right: int, place: int | None, rng: np.random.Generator) -> list[int]:
    """Return the order in which tasks are listed, with the right one at `place` if given."""
    order = [int(task) for task in rng.permutation(4)]
    if place is not None:
        right_index = order.index(right)
        order[right_index], order[place] = order[place], order[right_index]
    return order


def seat_roles(
    level: int, costs: Ints, player: int, name: str, rng: np.random.Generator
) -> Scenario:
    """Return a scenario with roles assigned to seats, and with task names from a story."""
    others = rng.permutation([seat for seat in range(4) if seat != player])
    seats = [player, *(int(seat) for seat in others)]
    roles = sorted(range(4), key=seats.__getitem__)  # the role in each seat
    names = rng.permutation(stories()[name].tasks)[:4]
    data = {
        "id": "",
        "level": level,
        "story": name,
        "tasks": [str(task) for task in names],
        "costs": [costs[role].tolist() for role in roles],
        "player": player,
        "knows": [
            sorted(seats[known_role] for known_role in SHAPES[level][role]) for role in roles
        ],
        "goal": "total" if level == 4 else "own",
    }
    return msgspec.convert(data, Scenario)
