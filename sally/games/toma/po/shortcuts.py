"""Mindless ways to answer the partially observable game, and how often each is right.

Each rule picks one task from the printed costs alone. Facts of the rules bound what any
generator can do, and the balance is struck around them:

- At level 1 two tasks are left and the player takes its cheaper one, so its dearest task is
  never right. The four answers that can be right (cheapest, second, third, failure) get a quarter
  each, so no rule beats the best constant answer.
- At levels 2 and 3 the right task is never another agent's first choice. `spare_task`, which
  counts on that, is right only where the player's own cheapest task is. At level 1 `spare_task`
  *is* the reasoning asked for, applied to one agent too many; it is reported, not balanced.

At level 4 `worst_placed` stays below chance (about .15): the best assignment rarely gives the
player the task where it does worst against the others. All other rules, both ways, are at chance.
"""

import operator
from collections.abc import Callable, Iterable

from sally.games.toma.po.rules import FAILURE, TASKS, Row, Scenario, answer, predictable

Rule = Callable[[Scenario], int | None]


def own_cost(rank: int) -> Rule:
    """The player's task of the given rank, 0 being the cheapest."""
    return lambda s: sorted(TASKS, key=s.costs[s.player].__getitem__)[rank]


def smallest_cost(s: Scenario) -> int:
    """The task with the smallest cost on the page, whoever pays it."""
    return min(TASKS, key=lambda task: min(row[task] for row in s.costs))


def largest_cost(s: Scenario) -> int:
    """The task with the largest cost on the page, whoever pays it."""
    return max(TASKS, key=lambda task: max(row[task] for row in s.costs))


def most_popular(s: Scenario) -> int:
    """The task that is cheapest for the four together."""
    return min(TASKS, key=lambda task: sum(row[task] for row in s.costs))


def least_popular(s: Scenario) -> int:
    """The task that is dearest for the four together."""
    return max(TASKS, key=lambda task: sum(row[task] for row in s.costs))


def most_popular_known(s: Scenario) -> int:
    """As most_popular, over the rows the player's role knows."""
    return min(TASKS, key=lambda task: sum(row[task] for row in _known(s)))


def least_popular_known(s: Scenario) -> int:
    """As least_popular, over the rows the player's role knows."""
    return max(TASKS, key=lambda task: sum(row[task] for row in _known(s)))


def stranger_min(s: Scenario) -> int | None:
    """The cheapest task of the first agent the player cannot predict; None if there is none."""
    rows = _strangers(s)
    return rows[0].index(min(rows[0])) if rows else None


def stranger_max(s: Scenario) -> int | None:
    """The dearest task of the first agent the player cannot predict; None if there is none."""
    rows = _strangers(s)
    return rows[0].index(max(rows[0])) if rows else None


def spare_task(s: Scenario) -> int:
    """The player's cheapest task among those that fewest others have as their first choice."""
    firsts = [row.index(min(row)) for seat, row in enumerate(s.costs) if seat != s.player]
    return min(TASKS, key=lambda task: (firsts.count(task), s.costs[s.player][task]))


def best_placed(s: Scenario) -> int:
    """The task where the player is cheapest compared with the four together."""
    return min(TASKS, key=lambda task: 4 * s.costs[s.player][task] - sum(r[task] for r in s.costs))


def worst_placed(s: Scenario) -> int:
    """The task where the player is dearest compared with the four together."""
    return max(TASKS, key=lambda task: 4 * s.costs[s.player][task] - sum(r[task] for r in s.costs))


def middle_cost(s: Scenario) -> int:
    """The player's task closest to the mean of its own costs."""
    row = s.costs[s.player]
    return min(TASKS, key=lambda task: abs(4 * row[task] - sum(row)))


def extreme_cost(s: Scenario) -> int:
    """The player's task farthest from the mean of its own costs."""
    row = s.costs[s.player]
    return max(TASKS, key=lambda task: abs(4 * row[task] - sum(row)))


def mission_failure(s: Scenario) -> int:
    """Always the fifth option."""
    return FAILURE


# Every rule stands beside its inverse.
SHORTCUTS: dict[str, Rule] = {
    "own_min": own_cost(0),
    "own_max": own_cost(3),
    "own_second": own_cost(1),
    "own_third": own_cost(2),
    "middle_cost": middle_cost,
    "extreme_cost": extreme_cost,
    "smallest_cost": smallest_cost,
    "largest_cost": largest_cost,
    "most_popular": most_popular,
    "least_popular": least_popular,
    "most_popular_known": most_popular_known,
    "least_popular_known": least_popular_known,
    "stranger_min": stranger_min,
    "stranger_max": stranger_max,
    "spare_task": spare_task,
    "best_placed": best_placed,
    "worst_placed": worst_placed,
    "mission_failure": mission_failure,
}


def hit_rates(scenarios: Iterable[Scenario]) -> dict[str, float]:
    """The share of scenarios that each shortcut answers right; rules that never apply are out."""
    listed = list(scenarios)
    if not listed:
        raise ValueError("hit_rates needs at least one scenario.")
    right = [answer(scenario) for scenario in listed]
    picks = {name: [rule(scenario) for scenario in listed] for name, rule in SHORTCUTS.items()}
    return {
        name: sum(map(operator.eq, picked, right)) / len(listed)
        for name, picked in picks.items()
        if any(pick is not None for pick in picked)
    }


def _known(s: Scenario) -> list[Row]:
    return [s.costs[seat] for seat in (s.player, *predictable(s))]


def _strangers(s: Scenario) -> list[Row]:
    known = {s.player, *predictable(s)}
    return [row for seat, row in enumerate(s.costs) if seat not in known]
