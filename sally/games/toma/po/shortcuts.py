"""Shortcuts through the partially observable game, and how often each is right.

Each rule picks one task from the printed costs only. The rules of the game limit how far any
generator can balance them:

- At level 1 two tasks remain and the player takes the cheaper one, so its most expensive task is
  never right. The four answers that can be right (cheapest, second, third, failure) get a quarter
  each, so no rule beats the best constant answer.
- At levels 2 and 3 the right task is never another agent's first choice. `spare_task`, which relies
  on that, is right only in scenarios in which the player's own cheapest task is right. At level 1
  `spare_task` nearly is the required reasoning: it avoids the first choices of all three other
  agents, although the player can predict only two of them. It is reported, not balanced.

At level 4 `worst_placed` stays below chance (about .15): the best assignment rarely gives the
player the task at which it is worst relative to the others. All other rules and their inverses are
at chance.
"""

from collections.abc import Callable

from sally.games.toma.po.rules import FAILURE, TASKS, Row, Scenario, predictable

Rule = Callable[[Scenario], int | None]


def _own_cost(rank: int) -> Rule:
    """Return the rule that takes the player's task of the given rank, 0 being the cheapest."""
    return lambda s: sorted(TASKS, key=s.costs[s.player].__getitem__)[rank]


def _smallest_task(number: Callable[[Scenario, int], float]) -> Rule:
    """Return the rule that takes the task for which `number` is smallest."""
    return lambda s: min(TASKS, key=lambda task: number(s, task))


def _largest_task(number: Callable[[Scenario, int], float]) -> Rule:
    """Return the rule that takes the task for which `number` is largest."""
    return lambda s: max(TASKS, key=lambda task: number(s, task))


def _total(s: Scenario, task: int) -> int:
    """Return the total cost of a task over all four agents."""
    return sum(row[task] for row in s.costs)


def _known_total(s: Scenario, task: int) -> int:
    """Return the total cost of a task over the player itself and the agents whose costs it
    knows."""
    return sum(s.costs[seat][task] for seat in (s.player, *predictable(s)))


def _disadvantage(s: Scenario, task: int) -> int:
    """Return four times the player's cost of a task minus the total cost of the task over all four
    agents."""
    return 4 * s.costs[s.player][task] - _total(s, task)


def _off_mean(s: Scenario, task: int) -> int:
    """Return how far the player's cost of a task is from the mean of the player's costs, times
    four."""
    row = s.costs[s.player]
    return abs(4 * row[task] - sum(row))


def _stranger(end: Callable[[Row], int]) -> Rule:
    """Return the rule that takes the cheapest or most expensive task (`end`) of an agent that the
    player cannot predict.

    The first such agent is used; the rule returns None if all agents are predictable.
    """

    def rule(s: Scenario) -> int | None:
        known_seats = {s.player, *predictable(s)}
        rows = [row for seat, row in enumerate(s.costs) if seat not in known_seats]
        return rows[0].index(end(rows[0])) if rows else None

    return rule


def _spare(s: Scenario, task: int) -> tuple[int, int]:
    """Return how many others have a task as their first choice, and the player's own cost of the
    task."""
    firsts = [row.index(min(row)) for seat, row in enumerate(s.costs) if seat != s.player]
    return firsts.count(task), s.costs[s.player][task]


# Every rule is listed beside its inverse.
SHORTCUTS: dict[str, Rule] = {
    "own_min": _own_cost(0),
    "own_max": _own_cost(3),
    "own_second": _own_cost(1),
    "own_third": _own_cost(2),
    "middle_cost": _smallest_task(_off_mean),
    "extreme_cost": _largest_task(_off_mean),
    "smallest_cost": _smallest_task(lambda s, task: min(row[task] for row in s.costs)),
    "largest_cost": _largest_task(lambda s, task: max(row[task] for row in s.costs)),
    "most_popular": _smallest_task(_total),
    "least_popular": _largest_task(_total),
    "most_popular_known": _smallest_task(_known_total),
    "least_popular_known": _largest_task(_known_total),
    "stranger_min": _stranger(min),
    "stranger_max": _stranger(max),
    "spare_task": lambda s: min(TASKS, key=lambda task: _spare(s, task)),
    "best_placed": _smallest_task(_disadvantage),
    "worst_placed": _largest_task(_disadvantage),
    "mission_failure": lambda s: FAILURE,
}
