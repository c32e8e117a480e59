"""Matched sets of the minority game, and depths of reasoning in it."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest
from msgspec.structs import replace

import sally
from sally.analysis.design.page_features import features_of, page_of
from sally.core.registry import registry
from sally.games.toma.mg.decisions import reason_about
from sally.games.toma.mg.depths import DEEPEST, answers_by_depth, emptiest_at
from sally.games.toma.mg.game import Minority, certified_by_id, frozen_set
from sally.games.toma.mg.generators import certify, scenarios
from sally.games.toma.mg.matched_sets import ROLES
from sally.games.toma.mg.rules import LEVELS, PLACES, Scenario, answer, depths, profiles
from tests.games.toma.solved import SEED, certified_mg, mg_hit_rates

MANY = {1: 16, 2: 16, 3: 8}
# what follows relations: all agents but the deepest, and the place that depth 2 finds fullest
STEPS = {"least_no_leaves", "most_no_leaves", "most_one_step"}


@pytest.fixture(scope="module")
def drawn() -> dict[int, list[Scenario]]:
    return {level: list(islice(scenarios(level, 11), MANY[level])) for level in LEVELS}


def in_fours(listed: list[Scenario]) -> list[list[Scenario]]:
    return [listed[n : n + 4] for n in range(0, len(listed), 4)]


def of_level(level: int) -> list[Scenario]:
    return [
        certified_scenario.scenario
        for certified_scenario in certified_by_id().values()
        if certified_scenario.block == level
    ]


def second_solver(scenario: Scenario, depth: int) -> list[int]:
    """Return the emptiest places by a table of scores, without the rules' own code."""
    if depth == 0:
        return [0, 1, 2, 3]
    wishes = []
    for agent in scenario.agents:
        score = [0.0] * 4
        for sign, likes in ((1.0, agent.likes), (-100.0, agent.dislikes)):
            for wish in likes:
                for n, place in enumerate(scenario.places):
                    score[n] += sign * any(wish in feature for feature in place.features)
        wishes.append(score)
    rows: list[list[int]] = [top(score) for score in wishes]
    for _ in range(depth - 1):
        after = []
        for agent, score in zip(scenario.agents, wishes, strict=True):
            now = list(score)
            if agent.avoids is not None and len(rows[agent.avoids]) == 1:
                now[rows[agent.avoids][0]] -= 100
            if agent.follows is not None and len(rows[agent.follows]) == 1:
                now[rows[agent.follows][0]] += 50  # below one dislike, above all likes
            after.append(top(now))
        rows = after
    heads = [sum((place in best) / len(best) for best in rows) for place in PLACES]
    return top([-head for head in heads])


def top(score: Sequence[float]) -> list[int]:
    return [n for n, value in enumerate(score) if value > max(score) - 1e-9]


def test_second_solver_agrees_at_every_depth(
    drawn: dict[int, list[Scenario]],
) -> None:
    older = [item.scenario for item in frozen_set(4).scenarios]
    for actual_item in [*older, *(s for level in LEVELS for s in drawn[level] + of_level(level))]:
        actual_places = [list(places) for places in answers_by_depth(actual_item)]
        assert actual_places == [second_solver(actual_item, depth) for depth in range(DEEPEST + 1)]
        assert actual_places[actual_item.level] == [answer(actual_item)] == actual_places[-1]


def test_matched_sets_of_level_1_differ_only_in_owners_of_dislikes(
    drawn: dict[int, list[Scenario]],
) -> None:
    spec = registry.game("toma_mg")
    for four in in_fours(drawn[1] + of_level(1)):
        assert {answer(s) for s in four} == set(PLACES)
        assert len({(s.places, s.story, tuple(a.likes for a in s.agents)) for s in four}) == 1
        for half in (slice(0, 4), slice(4, 8)):
            lists = [sorted(agent.dislikes for agent in s.agents[half]) for s in four]
            assert lists.count(lists[0]) == 4
        assert len({s.agents for s in four}) == 4
        pages = [features_of(*page_of(spec, Minority(scenario=s))) for s in four]
        assert pages.count(pages[0]) == 4
        for scenario in four:  # no agent likes what it dislikes, or names a feature twice
            for agent in scenario.agents:
                wishes = [*agent.likes, *agent.dislikes]
                named = [f for p in scenario.places for f in p.features for w in wishes if w in f]
                assert len(set(named)) == len(wishes)


@pytest.mark.parametrize("level", [2, 3])
def test_matched_sets_differ_only_in_targets_of_relations(
    drawn: dict[int, list[Scenario]], level: int
) -> None:
    spec = registry.game("toma_mg")
    for four in in_fours(drawn[level] + of_level(level)):
        assert {answer(s) for s in four} == set(PLACES)
        bare = [
            [replace(agent, follows=None, avoids=None) for agent in scenario.agents]
            for scenario in four
        ]
        assert bare.count(bare[0]) == 4
        assert len({(s.places, s.story, depths(s.agents)) for s in four}) == 1
        assert len({s.agents for s in four}) == 4
        pages = [features_of(*page_of(spec, Minority(scenario=s))) for s in four]
        assert pages.count(pages[0]) == 4  # no feature generated from the page tells them apart


@pytest.mark.parametrize("level", [2, 3])
def test_agents_of_one_depth_are_named_equally_often(
    drawn: dict[int, list[Scenario]], level: int
) -> None:
    for scenario in drawn[level]:
        deep = depths(scenario.agents)
        assert tuple(deep.count(n + 1) for n in range(level)) == ROLES[level]
        follows, avoids = (
            Counter(getattr(agent, kind) for agent in scenario.agents)
            for kind in ("follows", "avoids")
        )
        for depth in range(1, level):
            ends = {(follows[i], avoids[i]) for i, d in enumerate(deep) if d == depth}
            assert ends == ({(1, 1)} if (level, depth) != (3, 1) else {(1, 2), (2, 1)})


@pytest.mark.parametrize("level", LEVELS)
def test_every_shallower_player_and_every_rule_is_at_chance(level: int) -> None:
    listed = of_level(level)
    for depth in range(level):
        numbers = [emptiest_at(profiles(s), depth) for s in listed]
        hits = sum((answer(s) in f) / len(f) for s, f in zip(listed, numbers, strict=True))
        assert hits == pytest.approx(len(listed) / 4)
    rates = mg_hit_rates(listed)
    deviating = {n for n, rate in rates.items() if abs(rate - 0.25) > 1e-9}
    assert deviating <= (STEPS if level == 3 else set())


def test_sixth_set_has_40_per_level_and_is_reproduced_by_generator() -> None:
    assert Counter(
        certified_scenario.block for certified_scenario in certified_by_id().values()
    ) == dict.fromkeys(LEVELS, 40)
    for certified_scenario in certified_by_id().values():
        assert certified_scenario == certified_mg(certified_scenario.scenario)
        certify(certified_scenario.scenario)
    for level in LEVELS:
        assert list(islice(scenarios(level, SEED), 4)) == of_level(level)[:4]


def test_fifth_set_keeps_its_level_1_scenarios() -> None:
    kept_scenarios = [item for item in certified_by_id(5).values() if item.block == 1]
    assert len(kept_scenarios) == 40 and not {item.scenario.id for item in kept_scenarios} & set(
        certified_by_id()
    )
    chances = {
        id: reason_about(item.scenario).chance
        for id, item in {**certified_by_id(5), **certified_by_id()}.items()
    }
    assert {id for id, chance in chances.items() if chance == 0.29} == {
        o.scenario.id for o in kept_scenarios
    }
    assert set(chances.values()) == {0.25, 0.29}


def test_reasoner_plays_at_its_depth() -> None:
    certified_scenario = next(
        c for c in certified_by_id().values() if c.block == 3 and c.answer not in c.by_depth[2]
    )
    for depth, wins in ((2, 0.0), (3, 1.0)):
        lineup = {"player": ("reasoner", {"depth": depth})}
        episode = sally.play("toma_mg", lineup, scenario=certified_scenario.scenario.id)
        assert episode.payoffs == {"player": wins}


def test_set_with_other_numbers_of_agents_is_not_certified() -> None:
    full_scenario = next(scenarios(1, 3))
    with pytest.raises(ValueError, match="do not fit a matched set"):
        certify(replace(full_scenario, agents=full_scenario.agents[:6]))
