"""The exact rules of the partially observable game: four agents, four tasks, one cost matrix.

Costs are integer tenths (53 is shown as 5.3), so sums and comparisons are exact.
Source: kang2026, appendix C.1, with the decision rules of our protocol.
"""

from collections.abc import Mapping
from itertools import permutations
from typing import Literal

import msgspec

AGENTS = ("A", "B", "C", "D")
TASKS = range(4)
FAILURE = 4  # the fifth option: mission failure is inevitable
LEVELS = (0, 1, 2, 3, 4)

Row = tuple[int, int, int, int]
Goal = Literal["own", "total"]


class Scenario(msgspec.Struct, frozen=True):
    """One problem: the player, the costs of every task, and who knows whose costs."""

    id: str
    level: int
    story: str
    tasks: tuple[str, str, str, str]
    costs: tuple[Row, Row, Row, Row]  # by agent, then task, in tenths
    player: int
    # By agent: the others whose costs and knowledge it knows. Empty for an agent that the player
    # cannot predict, since its knowledge is not stated.
    knows: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    goal: Goal = "own"


class Undetermined(ValueError):
    """Raised if a rule leaves more than one choice, or none."""


def predictable(scenario: Scenario) -> tuple[int, ...]:
    """Return the agents whose choice the player can predict, in seat order."""
    return tuple(sorted(scenario.knows[scenario.player]))


def predictions(scenario: Scenario) -> dict[int, int]:
    """Return the predicted task, by the scenario's rule, of every agent that the player can
    predict."""
    if scenario.goal == "total":
        best = best_assignment(scenario)
        return {agent: best[agent] for agent in predictable(scenario)}
    return {agent: choice(scenario, agent) for agent in predictable(scenario)}


def choice(scenario: Scenario, agent: int) -> int:
    """Return the agent's cheapest task, excluding the tasks of the agents whose costs it knows."""
    avoided = {choice(scenario, known_agent) for known_agent in scenario.knows[agent]}
    cheapest = cheapest_of(scenario.costs[agent], set(TASKS) - avoided)
    if len(cheapest) != 1:
        raise Undetermined(
            f"Scenario {scenario.id}: agent {AGENTS[agent]} has {len(cheapest)} equally cheap "
            "tasks left; give it distinct costs."
        )
    return min(cheapest)


def cheapest_of(row: Row, tasks: set[int]) -> frozenset[int]:
    """Return the cheapest of the given tasks; several if they tie."""
    lowest_cost = min((row[task] for task in tasks), default=None)
    return frozenset(task for task in tasks if row[task] == lowest_cost)


def rational_actions(scenario: Scenario, predicted: Mapping[int, int]) -> frozenset[int]:
    """Return the options that are right if the others act as predicted.

    If predicted choices collide, mission failure is the only right option; otherwise the right
    option is the cheapest task that no agent is predicted to take. At level 4 the three predicted
    tasks leave only one. `predicted` gives the task of every agent that the player can predict.

    Raises: ValueError unless there is one valid prediction for every such agent.
    """
    needed = predictable(scenario)
    if predicted.keys() != set(needed) or not set(predicted.values()).issubset(TASKS):
        agent_names = ", ".join(AGENTS[agent] for agent in needed) or "no agent"
        raise ValueError(
            f"Scenario {scenario.id}: predictions must give a task from 0 to 3 for {agent_names}."
        )
    return _right_options(scenario, predicted)


def _right_options(scenario: Scenario, predicted: Mapping[int, int]) -> frozenset[int]:
    taken_tasks = set(predicted.values())
    if len(taken_tasks) < len(predicted):
        return frozenset({FAILURE})
    return cheapest_of(scenario.costs[scenario.player], set(TASKS) - taken_tasks)


def answer(scenario: Scenario) -> int:
    """Return the only right option: a task, or FAILURE; raise Undetermined in case of a tie."""
    actions = _right_options(scenario, predictions(scenario))
    if len(actions) != 1:
        raise Undetermined(
            f"Scenario {scenario.id}: {len(actions)} options are tied for the answer."
        )
    return min(actions)


def best_assignment(scenario: Scenario) -> tuple[int, ...]:
    """Return the task of each agent in the only assignment with the lowest total cost.

    All 24 assignments are enumerated to detect ties, which a solver that returns one optimum would
    hide.
    """
    ranked = sorted((total_cost(scenario, tasks), tasks) for tasks in permutations(TASKS))
    if ranked[0][0] == ranked[1][0]:
        raise Undetermined(f"Scenario {scenario.id}: two assignments are tied for the lowest cost.")
    return ranked[0][1]


def total_cost(scenario: Scenario, tasks: tuple[int, ...]) -> int:
    """Return the team's total cost, in tenths, if agent i does tasks[i]."""
    return sum(row[task] for row, task in zip(scenario.costs, tasks, strict=True))


def known_costs(scenario: Scenario) -> tuple[Row | None, ...]:
    """Return the cost rows that the player's role knows; other rows are None, as in prompts with
    `matrix=known`."""
    known_agents = {scenario.player, *scenario.knows[scenario.player]}
    return tuple(row if agent in known_agents else None for agent, row in enumerate(scenario.costs))


def cost_text(cost: int) -> str:
    """Return a cost as the prompt prints it: 53 -> '5.3'."""
    return f"{cost // 10}.{cost % 10}"


def check(scenario: Scenario) -> None:
    """Raise ValueError if the data do not form a valid scenario."""
    name = f"Scenario {scenario.id}"
    if scenario.level not in LEVELS:
        raise ValueError(f"{name}: level {scenario.level} is not one of 0 to 4.")
    if scenario.player not in range(4):
        raise ValueError(f"{name}: player {scenario.player} is not a seat from 0 to 3.")
    if len(set(scenario.tasks)) < 4:
        raise ValueError(f"{name}: the four tasks need four different names.")
    if any(cost < 1 for row in scenario.costs for cost in row):
        raise ValueError(f"{name}: every cost must be a positive whole number, in tenths.")
    for agent, known_agents in enumerate(scenario.knows):
        if (
            agent in known_agents
            or not set(known_agents) <= set(range(4))
            or len(set(known_agents)) < len(known_agents)
        ):
            raise ValueError(
                f"{name}: `knows` of agent {AGENTS[agent]} must list other seats, each once."
            )
    if knowledge(scenario.level, scenario.player, scenario.knows) is None:
        raise ValueError(
            f"{name}: `knows` does not have the structure that level {scenario.level} requires."
        )
    if scenario.goal != ("total" if scenario.level == 4 else "own"):
        raise ValueError(f"{name}: the goal is 'total' at level 4 and 'own' below it.")


# Who knows whom when the player is role 0 and the others are roles 1 to 3; a role knows only
# roles with smaller numbers, so choices can be computed in the order 1, 2, 3.
SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    0: ((), (), (), ()),
    1: ((1, 2), (), (), ()),
    2: ((1, 2, 3), (), (1,), (1,)),
    3: ((1, 2, 3), (), (1,), (1, 2)),
    4: ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)),
}


def knowledge(
    level: int, player: int, knows: tuple[tuple[int, ...], ...]
) -> tuple[int, ...] | None:
    """Return the seats in the order of their roles, or None if `knows` does not fit the level.

    A level defines which of the four roles know the costs of which others; the player has role 0.
    `knows` lists, for each seat, the seats whose costs it knows.
    """
    shape = SHAPES[level]
    for other_seats in permutations([seat for seat in range(4) if seat != player]):
        seats = (player, *other_seats)
        if all(
            {seats[role] for role in shape[i]} == set(knows[seat]) for i, seat in enumerate(seats)
        ):
            return seats
    return None
