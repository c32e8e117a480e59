"""The fourth generator of the minority game: certified, even, no shortcut of mentions."""

from collections import Counter
from itertools import islice

import pytest
from msgspec.structs import replace

from sally.games.toma import frozen
from sally.games.toma.mg.even import ROLES
from sally.games.toma.mg.generators import certify, needs_reading, scenarios
from sally.games.toma.mg.rules import LEVELS, Agent, Scenario, answer, depths, meets, profiles
from sally.games.toma.mg.shortcuts import (
    PARTIAL,
    both,
    dislikes,
    fans,
    first_dislikes,
    first_likes,
    level_is_needed,
    likes,
    undisputed,
)
from sally.games.toma.mg.stories import names_of, stories
from tests.games.toma.solved import SEED, keyed_mg, mg_hit_rates

MANY = 12  # few: at level 3 each takes a quarter of a second


@pytest.fixture(scope="module")
def drawn() -> dict[int, list[Scenario]]:
    return {level: list(islice(scenarios(level, 11, 4), MANY)) for level in LEVELS}


@pytest.fixture(scope="module")
def kept() -> dict[int, list[Scenario]]:
    listed = [item.scenario for item in frozen.mg(4).scenarios]
    return {level: [s for s in listed if s.level == level] for level in LEVELS}


def test_scenarios_follow_the_seed(drawn: dict[int, list[Scenario]]) -> None:
    assert list(islice(scenarios(2, 11, 4), 2)) == drawn[2][:2]
    assert next(scenarios(2, 12, 4)) != drawn[2][0]


def test_level_or_version_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="levels 1 to 3"):
        next(scenarios(4, 1))
    with pytest.raises(ValueError, match="must be 4, 5 or 6"):
        next(scenarios(1, 1, 3))


@pytest.mark.parametrize("level", LEVELS)
def test_answers_and_sizes_are_balanced(drawn: dict[int, list[Scenario]], level: int) -> None:
    assert set(Counter(answer(s) for s in drawn[level]).values()) == {MANY // 4}
    sizes = ROLES[level]
    expected = dict.fromkeys(sizes, MANY // len(sizes))
    assert Counter(len(s.agents) for s in drawn[level]) == expected
    assert len({s.story for s in drawn[level]}) > 1


# Rules that are part of the solution, and the inverse of one that nearly is (see mg_shortcuts).
EXCEPTIONS = {f"{side}_{name}" for side in ("least", "most") for name in PARTIAL} | {
    "most_one_step"
}


@pytest.mark.parametrize("level", LEVELS)
def test_mention_counts_do_not_distinguish_places(
    drawn: dict[int, list[Scenario]], kept: dict[int, list[Scenario]], level: int
) -> None:
    for scenario in drawn[level] + kept[level]:
        read = profiles(scenario)
        groups = (
            [one for one in read if one.follows is None and one.avoids is None],
            [one for one in read if one.follows is not None],
            [one for one in read if one.avoids is not None],
        )
        for agents in groups:
            for count in (likes, dislikes, fans):
                assert len(set(count(agents))) == 1
        for count in (both, undisputed, first_likes, first_dislikes):
            assert len(set(count(read))) == 1


@pytest.mark.parametrize("level", LEVELS)
def test_shortcuts_in_frozen_set_deviate_from_chance_by_at_most_two(
    kept: dict[int, list[Scenario]], level: int
) -> None:
    rates = mg_hit_rates(kept[level])
    assert not {n: r for n, r in rates.items() if abs(30 * r - 7.5) > 2 and n not in EXCEPTIONS}


@pytest.mark.parametrize("level", [2, 3])
def test_partial_solution_never_determines_the_answer(
    drawn: dict[int, list[Scenario]], kept: dict[int, list[Scenario]], level: int
) -> None:
    for scenario in drawn[level] + kept[level]:
        assert level_is_needed(profiles(scenario), answer(scenario))


def test_frozen_set_has_30_certified_scenarios_per_level(
    kept: dict[int, list[Scenario]],
) -> None:
    assert {level: len(listed) for level, listed in kept.items()} == dict.fromkeys(LEVELS, 30)
    for level, listed in kept.items():
        for scenario in listed:
            certify(scenario)
            deep = depths(scenario.agents)
            sizes = ROLES[level][len(deep)]
            assert tuple(deep.count(i + 1) for i in range(level)) == sizes
        counts = Counter(map(answer, listed))
        assert sorted(counts.values()) == [7, 7, 8, 8]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_frozen_keys_equal_solver_output(version: int) -> None:
    for item in frozen.mg(version).scenarios:
        assert item == keyed_mg(item.scenario)


@pytest.mark.parametrize("level", LEVELS)
def test_frozen_set_equals_generator_output(kept: dict[int, list[Scenario]], level: int) -> None:
    assert list(islice(scenarios(level, SEED, 4), 2)) == kept[level][:2]


@pytest.mark.parametrize("level", [2, 3])
def test_both_relations_are_used(kept: dict[int, list[Scenario]], level: int) -> None:
    agents = [agent for scenario in kept[level] for agent in scenario.agents]
    assert sum(agent.follows is not None for agent in agents) > 20
    assert sum(agent.avoids is not None for agent in agents) > 20


def test_every_wish_names_an_existing_feature(kept: dict[int, list[Scenario]]) -> None:
    for scenario in (s for listed in kept.values() for s in listed):
        for agent in scenario.agents:
            named = [*agent.likes, *agent.dislikes]
            met = [
                [f for place in scenario.places for f in place.features if meets(f, wish)]
                for wish in named
            ]
            assert all(len(features) == 1 for features in met)
            assert len({features[0] for features in met}) == len(named)


def test_at_least_six_stories_and_partial_names_are_unambiguous() -> None:
    assert len(stories()) >= 6
    for story in stories().values():
        assert len(set(story.places)) >= 4
        assert len(set(story.features)) >= 12
        for feature in story.features:
            assert len(feature.split()) == 3
            for name in names_of(feature):
                assert [f for f in story.features if meets(f, name)] == [feature]
                # Neither whole-word nor letter-by-letter matching may be at an advantage.
                assert [f for f in story.features if name in f] == [feature]


def test_most_features_share_a_word_with_another_one() -> None:
    for story in stories().values():
        shared = [
            f
            for f in story.features
            if any(set(f.split()) & set(g.split()) for g in story.features if g != f)
        ]
        assert len(shared) >= 0.9 * len(story.features)


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        (Agent("Agent 1", ("no such thing",), ()), "must be met by exactly one place"),
        (None, "must name all places equally often"),
    ],
)
def test_unsound_scenario_is_not_certified(agent: Agent | None, sentence: str) -> None:
    good = next(scenarios(1, 3, 4))
    first = agent or replace(good.agents[0], likes=good.agents[0].likes[:1])
    with pytest.raises(ValueError, match=sentence):
        certify(replace(good, agents=(first, *good.agents[1:])))


def test_scenario_with_full_feature_names_is_not_certified() -> None:
    scenario = next(scenarios(1, 3, 4))
    features = [f for place in scenario.places for f in place.features]

    def full(wishes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(next(f for f in features if meets(f, wish)) for wish in wishes)

    agents = tuple(
        replace(a, likes=full(a.likes), dislikes=full(a.dislikes)) for a in scenario.agents
    )
    assert needs_reading(scenario)
    with pytest.raises(ValueError, match="name only part of a feature"):
        certify(replace(scenario, agents=agents))
