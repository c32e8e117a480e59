"""Reasoners of limited depth in the partially observable game, and the depth that an answer needs.

A reasoner of depth 0 takes its own cheapest task. A reasoner of depth k predicts every agent whose
costs it knows as a reasoner of depth k - 1 with that agent's knowledge, and applies the rule stated
in the prompt to these predictions: if two of them collide, failure is inevitable; otherwise it
takes the cheapest remaining task.
"""

from __future__ import annotations

from sally.games.toma.po.rules import (
    TASKS,
    Scenario,
    cheapest_of,
    predictable,
    rational_actions,
)

DEEPEST = 3  # of an answer by the stated rule: the longest chain is player, X, Y, Z


def answer_at(scenario: Scenario, depth: int) -> int:
    """Return the option that a player of this depth chooses.

    Raises:
        ValueError: The goal is the total cost, so that all agents follow one joint plan.
    """
    if scenario.goal != "own":
        raise ValueError(
            f"Scenario {scenario.id}: level {scenario.level} asks for one joint plan of all four "
            "agents, which no reasoner of limited depth computes; depths are defined at levels 0 "
            "to 3."
        )
    if depth < 0:
        raise ValueError(f"A depth of reasoning must be at least 0, not {depth}.")
    if depth == 0:
        return choice_at(scenario, scenario.player, 0)
    return min(rational_actions(scenario, predictions_at(scenario, depth)))


def predictions_at(scenario: Scenario, depth: int) -> dict[int, int]:
    """Return the task that a player of depth 1 or more predicts for each agent that it can
    predict."""
    return {agent: choice_at(scenario, agent, depth - 1) for agent in predictable(scenario)}


def choice_at(scenario: Scenario, agent: int, depth: int) -> int:
    """Return the task that an agent of this depth takes; the agent predicts the others as reasoners
    of depth `depth - 1`."""
    known_agents = scenario.knows[agent] if depth else ()
    avoided = {choice_at(scenario, known_agent, depth - 1) for known_agent in known_agents}
    return min(cheapest_of(scenario.costs[agent], set(TASKS) - avoided))


def answers_by_depth(scenario: Scenario) -> tuple[int, ...]:
    """Return the answers of reasoners of depth 0 to DEEPEST; the last one is the right answer."""
    return tuple(answer_at(scenario, depth) for depth in range(DEEPEST + 1))
