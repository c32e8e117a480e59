"""The exact solver of the partially observable game, on printed and constructed scenarios."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.optimize import linear_sum_assignment

from sally.games.toma.po.rules import (
    FAILURE,
    SHAPES,
    Scenario,
    Undetermined,
    answer,
    best_assignment,
    check,
    cost_text,
    known_costs,
    predictable,
    predictions,
    rational_actions,
    total_cost,
)
from tests.games.toma import po_printed as printed


@pytest.mark.parametrize(
    ("scenario", "right"),
    list(zip(printed.ALL, ("Cave", "River", "West", "Treaty A", "Asteroid X"), strict=True)),
    ids=lambda x: getattr(x, "id", x),
)
def test_printed_answers_are_right(scenario: Scenario, right: str) -> None:
    check(scenario)
    assert scenario.tasks[answer(scenario)] == right


def named(scenario: Scenario) -> dict[str, str]:
    return {"ABCD"[agent]: scenario.tasks[task] for agent, task in predictions(scenario).items()}


def test_printed_predictions_match_the_protocol_corrections() -> None:
    assert named(printed.L0_3) == {}
    assert named(printed.L1_2) == {"A": "Mountain", "C": "Cave"}
    assert named(printed.L2_5) == {"A": "North", "B": "South", "C": "East"}
    # The paper lets C take Trade Deal here; Treaty B is cheaper for it (3.5 against 4.3).
    assert named(printed.L3_7) == {"A": "Trade Deal", "C": "Treaty B", "D": "Alliance"}


def test_printed_level_4_optimum_is_twelve_and_a_half() -> None:
    best = best_assignment(printed.L4_18)
    assert [printed.L4_18.tasks[task][-1] for task in best] == ["Y", "Z", "P", "X"]
    assert cost_text(total_cost(printed.L4_18, best)) == "12.5"
    totals = sorted(total_cost(printed.L4_18, order) for order in permutations(range(4)))
    assert totals[1] == 131  # the paper's 13.1 is second best


def test_strangers_may_collide_without_mission_failure() -> None:
    """In the printed L0.3 all three others want the river; the player cannot know it."""
    firsts = [row.index(min(row)) for row in printed.L0_3.costs[1:]]
    assert firsts == [1, 1, 1]
    assert answer(printed.L0_3) != FAILURE


def test_two_known_agents_on_one_task_give_mission_failure() -> None:
    costs = list(printed.L1_2.costs)
    costs[2] = (42, 71, 51, 80)  # now C, like A, wants the mountain
    assert answer(replace(printed.L1_2, costs=tuple(costs))) == FAILURE


def test_stranger_on_the_chosen_task_changes_nothing() -> None:
    costs = list(printed.L1_2.costs)
    costs[3] = (47, 5, 88, 56)  # D, unknown to B, now wants the river
    assert printed.L1_2.tasks[answer(replace(printed.L1_2, costs=tuple(costs)))] == "River"


def test_second_order_agents_avoiding_to_the_same_task_give_failure() -> None:
    costs = list(printed.L2_5.costs)
    costs[2] = (5, 15, 87, 137)  # C, fleeing North, now goes South like B
    assert answer(replace(printed.L2_5, costs=tuple(costs))) == FAILURE


def test_known_costs_omit_hidden_rows() -> None:
    assert known_costs(printed.L0_3) == (printed.L0_3.costs[0], None, None, None)
    assert known_costs(printed.L1_2)[3] is None
    assert known_costs(printed.L1_2)[:3] == printed.L1_2.costs[:3]
    assert known_costs(printed.L4_18) == printed.L4_18.costs


def test_level_1_answer_does_not_depend_on_the_hidden_row() -> None:
    for row in permutations((1, 50, 70, 90)):
        costs = (*printed.L1_2.costs[:3], row)
        assert answer(replace(printed.L1_2, costs=costs)) == answer(printed.L1_2)


def test_rational_actions_follow_the_players_own_predictions_right_or_wrong() -> None:
    l1 = printed.L1_2  # B: Mountain 1.0, River 2.5, Cave 10.7, Forest 6.1
    assert rational_actions(l1, {0: 1, 2: 3}) == {0}
    assert rational_actions(l1, {0: 0, 2: 1}) == {3}
    assert rational_actions(l1, {0: 2, 2: 2}) == {FAILURE}
    l4 = printed.L4_18
    assert rational_actions(l4, {0: 2, 1: 1, 2: 3}) == {0}
    assert rational_actions(l4, {0: 0, 1: 1, 2: 2}) == {3}
    assert rational_actions(printed.L0_3, {}) == {2}


@pytest.mark.parametrize("predicted", [{0: 1}, {0: 1, 2: 0, 3: 2}, {0: 1, 2: FAILURE}])
def test_incomplete_and_impossible_predictions_are_refused(predicted: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="a task from 0 to 3 for A, C"):
        rational_actions(printed.L1_2, predicted)


@pytest.mark.parametrize("scenario", printed.ALL, ids=lambda s: s.id)
def test_every_prediction_leaves_exactly_one_rational_option(scenario: Scenario) -> None:
    others = predictable(scenario)
    for tasks in product(range(4), repeat=len(others)):
        actions = rational_actions(scenario, dict(zip(others, tasks, strict=True)))
        assert len(actions) == 1
        assert (actions == {FAILURE}) == (len(set(tasks)) < len(tasks))
        assert not actions & set(tasks)


def test_equal_own_costs_are_all_rational() -> None:
    costs = list(printed.L1_2.costs)
    costs[1] = (10, 25, 107, 25)
    tied = replace(printed.L1_2, costs=tuple(costs))
    assert rational_actions(tied, {0: 0, 2: 2}) == {1, 3}
    with pytest.raises(Undetermined, match=r"L1\.2: 2 options are tied"):
        answer(tied)


def test_tied_prediction_is_refused() -> None:
    costs = ((15, 15, 18, 86), *printed.L1_2.costs[1:])
    with pytest.raises(Undetermined, match="agent A has 2 equally cheap tasks"):
        predictions(replace(printed.L1_2, costs=costs))


def test_tied_assignment_is_refused() -> None:
    with pytest.raises(Undetermined, match="two assignments are tied"):
        best_assignment(replace(printed.L4_18, costs=((1, 2, 3, 4),) * 4))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"level": 5}, "level 5 is not one of 0 to 4"),
        ({"player": 4}, "player 4 is not a seat"),
        ({"tasks": ("Cave",) * 4}, "four different names"),
        ({"costs": ((0, 1, 2, 3),) * 4}, "positive whole number"),
        ({"knows": ((), (1, 2), (), ())}, "`knows` of agent B"),
        ({"knows": ((), (0,), (), ())}, "structure that level 1 requires"),
        ({"goal": "total"}, "the goal is 'total' at level 4"),
    ],
)
def test_broken_scenarios_are_refused_with_a_reason(
    changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        check(replace(printed.L1_2, **changes))


matrices = st.lists(st.integers(1, 200), min_size=16, max_size=16, unique=True).map(
    lambda cells: tuple(tuple(cells[i : i + 4]) for i in range(0, 16, 4))
)


@given(matrices)
def test_best_assignment_has_the_cost_found_by_scipy(costs: tuple[tuple[int, ...], ...]) -> None:
    scenario = replace(printed.L4_18, costs=costs)
    rows, columns = linear_sum_assignment(np.array(costs))
    min_number = int(np.array(costs)[rows, columns].sum())
    try:
        assert total_cost(scenario, best_assignment(scenario)) == min_number
    except Undetermined:
        totals = [total_cost(scenario, order) for order in permutations(range(4))]
        assert totals.count(min_number) > 1


@given(matrices)
def test_chain_of_knowledge_has_no_collisions(costs: tuple[tuple[int, ...], ...]) -> None:
    scenario = replace(printed.L3_7, costs=costs)
    taken_predictions = set(predictions(scenario).values())
    assert len(taken_predictions) == 3
    assert {answer(scenario)} == set(range(4)) - taken_predictions


@given(matrices, st.permutations(range(4)), st.sampled_from(sorted(SHAPES)))
def test_answer_follows_a_permutation_of_tasks(
    costs: tuple[tuple[int, ...], ...], order: list[int], level: int
) -> None:
    """Listing the tasks in another order moves the answer and nothing else."""
    scenario = replace(printed.ALL[level], costs=costs)
    listed = replace(scenario, costs=tuple(tuple(row[i] for i in order) for row in costs))
    try:
        right = answer(scenario)
    except Undetermined:
        return
    assert answer(listed) == (right if right == FAILURE else order.index(right))
