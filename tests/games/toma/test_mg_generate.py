"""Stories, certificates and stored keys of the minority game; matched sets: test_mg_depths."""

import pytest
from msgspec.structs import replace

from sally.games.toma.mg.game import frozen_set
from sally.games.toma.mg.generators import certify, needs_reading, scenarios
from sally.games.toma.mg.rules import Agent, meets
from sally.games.toma.mg.stories import names_of, stories
from tests.games.toma.solved import keyed_mg


def test_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="levels 1 to 3"):
        next(scenarios(4, 1))


@pytest.mark.parametrize("version", [3, 4])
def test_frozen_keys_equal_solver_output(version: int) -> None:
    for item in frozen_set(version).scenarios:
        assert item == keyed_mg(item.scenario)


def test_every_wish_names_an_existing_feature() -> None:
    for scenario in (item.scenario for item in frozen_set(4).scenarios):
        for agent in scenario.agents:
            likes = [*agent.likes, *agent.dislikes]
            met = [
                [f for place in scenario.places for f in place.features if meets(f, wish)]
                for wish in likes
            ]
            assert all(len(features) == 1 for features in met)
            assert len({features[0] for features in met}) == len(likes)


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


def test_scenario_with_a_wish_for_no_place_is_not_certified() -> None:
    good = next(scenarios(1, 3))
    first = Agent("Agent 1", ("no such thing",), ())
    with pytest.raises(ValueError, match="must be met by exactly one place"):
        certify(replace(good, agents=(first, *good.agents[1:])))


def test_scenario_with_full_feature_names_is_not_certified() -> None:
    scenario = next(scenarios(1, 3))
    features = [f for place in scenario.places for f in place.features]

    def full(wishes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(next(f for f in features if meets(f, wish)) for wish in wishes)

    agents = tuple(
        replace(a, likes=full(a.likes), dislikes=full(a.dislikes)) for a in scenario.agents
    )
    assert needs_reading(scenario)
    with pytest.raises(ValueError, match="name only part of a feature"):
        certify(replace(scenario, agents=agents))
