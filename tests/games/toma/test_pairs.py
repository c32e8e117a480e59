"""Pairs of toma_po and toma_mg: what the members share, and what the certificate refuses."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.positions import open_position
from sally.core.errors import BadInput
from sally.core.rules.pair import Pair, draw_pair
from sally.games.toma.mg import pairs as mg
from sally.games.toma.mg.game import Minority
from sally.games.toma.po import pairs as po
from sally.games.toma.po.game import PartlySeen, frozen_scenarios
from sally.games.toma.po.rules import FAILURE, Scenario, answer, choice, knowledge, predictable

TASKS, PLACES = po.PAIRS[0], mg.PAIRS[0]


def scenarios_of(pair: Pair) -> list[dict[str, Any]]:
    return [member.params["scenario"] for member in pair.members]


def test_probe_is_about_the_asked_agent_alone() -> None:
    position = open_position(PLACES, draw_pair(PLACES, 2, 3, 0), 0)
    assert position.asks["know"].question is not None
    assert position.asks["know"].question.about == position.game.subject
    scenario = next(s for s in frozen_scenarios().values() if s.level == 2)
    with pytest.raises(BadInput, match="agent that the player"):
        PartlySeen(scenario=scenario, subject="E")
    with pytest.raises(BadInput, match="agent that the player"):
        Minority(subject="Agent 9")


def test_order_1_exchanges_the_rows_of_a_predictable_agent_and_a_stranger() -> None:
    for number in range(20):
        pair = draw_pair(TASKS, 1, 3, number)
        first, second = (msgspec.convert(s, Scenario) for s in scenarios_of(pair))
        changed = [agent for agent in range(4) if first.costs[agent] != second.costs[agent]]
        subject = "ABCD".index(pair.members[0].params["subject"])
        (stranger,) = set(range(4)) - {first.player, *predictable(first)}
        assert set(changed) == {subject, stranger}
        assert first.costs[subject] == second.costs[stranger]


@pytest.mark.parametrize("order", [2, 3])
def test_higher_orders_change_only_who_knows_whose_costs(order: int) -> None:
    for number in range(20):
        pair = draw_pair(TASKS, order, 3, number)
        first, second = (msgspec.convert(s, Scenario) for s in scenarios_of(pair))
        assert first.knows != second.knows
        assert msgspec.structs.replace(first, knows=second.knows) == second
        subject = "ABCD".index(pair.members[0].params["subject"])
        assert len(first.knows[subject]) == len(second.knows[subject])
        assert choice(first, subject) != choice(second, subject)
        fails = [answer(scenario) == FAILURE for scenario in (first, second)]
        assert sum(fails) == (order == 2)


def test_every_structure_of_a_level_is_considered() -> None:
    for level, count in ((2, 3), (3, 6)):
        listed = po.structures(level, (2, 0, 1, 3))
        assert len(listed) == count
        assert all(knowledge(level, 2, knows) is not None for knows in listed)


@pytest.mark.parametrize("order", [2, 3])
def test_minority_members_exchange_one_kind_of_relation(order: int) -> None:
    for number in range(20):
        first, second = scenarios_of(draw_pair(PLACES, order, 3, number))
        assert first["places"] == second["places"]
        changed = [
            (agent, other_agent)
            for agent, other_agent in zip(first["agents"], second["agents"], strict=True)
            if agent != other_agent
        ]
        assert len(changed) == 2
        (agent, one_then), (other_agent, other_then) = changed
        for field in ("follows", "avoids"):
            assert (agent[field], other_agent[field]) == (other_then[field], one_then[field])


def test_rule_that_reads_one_like_breaks_the_certificate() -> None:
    """The agents that are followed or avoided in the two members must name the same place first."""
    pair = draw_pair(PLACES, 2, 3, 0)
    first = scenarios_of(pair)[0]
    own_agent = next(a for a in first["agents"] if a["name"] == pair.members[0].params["subject"])
    named = own_agent["avoids"] if own_agent["follows"] is None else own_agent["follows"]
    likes = first["agents"][named]["likes"]
    place = next(
        p for p in first["places"] if all(likes[0] not in feature for feature in p["features"])
    )
    members = []
    for member, scenario in zip(pair.members, scenarios_of(pair), strict=True):
        agents = [dict(agent) for agent in scenario["agents"]]
        agents[named]["likes"] = [place["features"][0], *likes]
        params = {**member.params, "scenario": {**scenario, "agents": agents}}
        members.append(msgspec.structs.replace(member, params=params))
    problems = certify(msgspec.structs.replace(pair, members=(members[0], members[1]))).problems
    rule = "the first like of the agent that it names"
    assert f"C4: the rule {rule!r} tells the members apart (know)" in problems


def test_same_answer_in_both_members_has_no_certificate() -> None:
    pair = draw_pair(TASKS, 2, 3, 0)
    twice = msgspec.structs.replace(pair, members=(pair.members[0], pair.members[0]))
    problems = certify(twice).problems
    assert "C1: the pages of know are identical" in problems
    assert "C2: the right answers to do overlap" in problems
