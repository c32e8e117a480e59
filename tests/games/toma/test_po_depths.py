"""Depths of reasoning in the partially observable game, and the certified set."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

import sally
from benchmarks.problem_sets.toma_po_blocks import DEPTHS, scenarios
from sally.games.toma.po.depths import DEEPEST, answer_at, answers_by_depth
from sally.games.toma.po.game import certified_by_id
from sally.games.toma.po.generators import scenarios as level_scenarios
from sally.games.toma.po.rules import FAILURE, Scenario, answer
from tests.games.toma.solved import SEED, certified_po, po_hit_rates

MANY = 120
# rules that do a part of the reasoning: they rule out first choices, and guess among the rest
PARTIAL = {"spare_task"}
CHANCE = {1: 0.25, 2: 0.2, 3: 0.25}


def second_solver(scenario: Scenario, deepest: int) -> list[int]:
    """Return the answers by depth from tables of every agent's choice, filled depth by depth."""
    ranking = np.argsort(np.array(scenario.costs), axis=1)
    tables = [[int(order[0]) for order in ranking]]
    answers = [tables[0][scenario.player]]
    for _ in range(deepest):
        table_before = tables[-1]
        others = [table_before[other_item] for other_item in scenario.knows[scenario.player]]
        clash = any(count > 1 for count in Counter(others).values())
        table = []
        for agent, order in enumerate(ranking):
            gone = {table_before[other_item] for other_item in scenario.knows[agent]}
            table.append(next(int(task) for task in order if task not in gone))
        answers.append(FAILURE if clash else table[scenario.player])
        tables.append(table)
    return answers


@pytest.fixture(scope="module")
def drawn() -> dict[int, list[Scenario]]:
    return {block: list(islice(scenarios(block, 11), MANY)) for block in DEPTHS}


def test_second_solver_agrees_at_every_depth(
    drawn: dict[int, list[Scenario]],
) -> None:
    published = [s for level in range(4) for s in islice(level_scenarios(level, 3), 40)]
    for item in [*published, *(s for block in drawn.values() for s in block)]:
        assert list(answers_by_depth(item)) == second_solver(item, DEEPEST)
        assert answers_by_depth(item)[-1] == answer(item)
        assert answer_at(item, DEEPEST + 2) == answer(item)  # it stays right


def test_depth_is_the_smallest_from_which_answers_stay_right() -> None:
    for certified_scenario in certified_by_id().values():
        right = [answers == (certified_scenario.answer,) for answers in certified_scenario.by_depth]
        assert all(right[certified_scenario.depth :]) and (
            certified_scenario.depth == 0 or not right[certified_scenario.depth - 1]
        )


@pytest.mark.parametrize("block", DEPTHS)
def test_reasoner_of_the_depth_answers_the_whole_block(
    drawn: dict[int, list[Scenario]], block: int
) -> None:
    assert all(answer_at(s, block) == answer(s) for s in drawn[block])


@pytest.mark.parametrize("block", [1, 2, 3])
def test_shallower_reasoners_and_rules_are_at_chance(
    drawn: dict[int, list[Scenario]], block: int
) -> None:
    rates = po_hit_rates(drawn[block])
    constant_failure = rates.pop("mission_failure")
    for shallow in range(1, block):
        hits = sum(answer_at(s, shallow) == answer(s) for s in drawn[block]) / MANY
        assert hits == constant_failure  # it predicts a collision in every scenario
    if block == 1:  # the level itself: see the exceptions of test_po_generate
        assert rates["own_min"] == CHANCE[1]
        return
    deviating = {
        n: r for n, r in rates.items() if abs(r - CHANCE[block]) > 0.05 and n not in PARTIAL
    }
    # of the own row's shape: not picked for
    assert deviating.keys() <= {"middle_cost", "extreme_cost"}
    assert abs(rates["own_min"] - CHANCE[block]) <= 0.01


def test_own_costs_are_uninformative_about_remaining_tasks(
    drawn: dict[int, list[Scenario]],
) -> None:
    """A player that knows what Y and Z take has two tasks left: the dearer is right in half."""
    dearer = 0
    for s in drawn[3]:
        first = {seat: row.index(min(row)) for seat, row in enumerate(s.costs)}
        z = next(a for a in s.knows[s.player] if not s.knows[a])
        y = next(a for a in s.knows[s.player] if s.knows[a] == (z,))
        taken = {first[z], min(set(range(4)) - {first[z]}, key=s.costs[y].__getitem__)}
        dearer += max(set(range(4)) - taken, key=s.costs[s.player].__getitem__) == answer(s)
    assert dearer == MANY // 2


def test_frozen_set_has_60_per_depth_and_is_reproduced_by_generator() -> None:
    assert Counter(
        certified_scenario.block for certified_scenario in certified_by_id().values()
    ) == dict.fromkeys(DEPTHS, 60)
    assert (
        len(
            {certified_scenario.scenario.costs for certified_scenario in certified_by_id().values()}
        )
        == 240
    )
    for certified_scenario in certified_by_id().values():
        assert certified_scenario == certified_po(
            certified_scenario.scenario, certified_scenario.block
        )
    for block in DEPTHS:
        first = list(islice(scenarios(block, SEED), 3))
        kept_scenarios = [
            certified_scenario.scenario
            for certified_scenario in certified_by_id().values()
            if certified_scenario.block == block
        ]
        assert first == kept_scenarios[:3]


def test_certified_scenario_is_played_by_its_id() -> None:
    id = "po-certified-D3-2026-7"
    for k, wins in ((2, 0.0), (3, 1.0)):
        episode = sally.play("toma_po", {"player": ("reasoner", {"depth": k})}, scenario=id)
        assert episode.payoffs == {"player": wins}


def test_depths_are_undefined_at_level_4() -> None:
    with pytest.raises(ValueError, match="levels 0 to 3"):
        answer_at(next(level_scenarios(4, 1)), 1)


def test_depth_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        answer_at(next(level_scenarios(1, 1)), -1)
    with pytest.raises(ValueError, match="depths 0 to 3"):
        next(scenarios(4, 1))
