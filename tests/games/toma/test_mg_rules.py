"""The exact solver of the minority game, on printed and constructed scenarios."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sally.games.toma.mg.rules import (
    Agent,
    Profile,
    Scenario,
    Undetermined,
    answer,
    best_places,
    check,
    depths,
    destinations,
    headcounts,
    meets,
    predictions,
    profiles,
    rational_actions,
)
from tests.games.toma import mg_printed as printed

RIGHT = ("Berry Farm", "Shadow Crypt", "Minty Cool")


@pytest.mark.parametrize(
    ("scenario", "right"),
    list(zip(printed.ALL, RIGHT, strict=True)),
    ids=["L1", "L2", "L3"],
)
def test_printed_answers_are_right(scenario: Scenario, right: str) -> None:
    check(scenario)
    assert scenario.places[answer(scenario)].name == right


@pytest.mark.parametrize(
    ("scenario", "places"),
    [
        (printed.L1, ["Choco Heaven", "Minty Cool", "Pure Vanilla", "Pure Vanilla"]),
        (printed.L2, ["Dragon's Peak", "Crystal Cave", "Crystal Cave", "Goblin Market"]),
        (printed.L3, ["Choco Heaven", "Choco Heaven", "Berry Farm", "Pure Vanilla"]),
    ],
    ids=["L1", "L2", "L3"],
)
def test_printed_predictions_match_the_paper(scenario: Scenario, places: list[str]) -> None:
    assert [scenario.places[place].name for place in predictions(scenario).values()] == places


def test_printed_level_3_needs_its_missing_features() -> None:
    with pytest.raises(Undetermined, match="L3-1-62738: Agent number 3 has 2 equally good"):
        predictions(printed.L3_AS_PRINTED)
    with_chips = printed.with_feature(printed.L3, 2, "chocolate chips")
    with pytest.raises(Undetermined, match="Agent number 1 has 2 equally good"):
        predictions(with_chips)  # it may not go to Choco Heaven, and likes nothing that is left


@pytest.mark.parametrize(
    ("feature", "wish", "met"),
    [
        ("strong mint flavor", "mint flavor", True),
        ("strong mint flavor", "Strong Mint", True),
        ("strong mint flavor", "strong mint flavor", True),
        ("strong mint flavor", "strong flavor", False),
        ("strong mint flavor", "flavor mint", False),
        ("peppermint flavor", "mint flavor", False),
        ("mint", "mint flavor", False),
    ],
)
def test_wish_matches_consecutive_whole_words(feature: str, wish: str, met: bool) -> None:
    assert meets(feature, wish) is met


def likes(*places: int) -> tuple[tuple[int, ...], ...]:
    return tuple((place,) for place in places)


@pytest.mark.parametrize(
    ("profile", "gone", "goes"),
    [
        (Profile(likes(0, 0, 1), ()), {}, (0,)),
        (Profile(likes(0, 0, 1), likes(0)), {}, (1,)),  # a dislike outweighs two likes
        (Profile(likes(0, 1), ()), {}, (0, 1)),
        (Profile(likes(0, 0), (), follows=5), {5: 3}, (3,)),  # a friend outweighs two likes
        (Profile(likes(0, 0), likes(3), follows=5), {5: 3}, (0,)),  # but not a dislike
        (Profile(likes(0, 0, 1), (), avoids=5), {5: 0}, (1,)),
        (Profile(likes(0, 0, 1), (), avoids=5), {5: 2}, (0,)),
        (Profile(likes(0, 1), (), follows=4, avoids=5), {4: 2, 5: 2}, (0, 1)),
        (Profile(likes(0), likes(0, 1, 2, 3)), {}, ()),
    ],
)
def test_decision_rule(profile: Profile, gone: dict[int, int], goes: tuple[int, ...]) -> None:
    assert best_places(profile, gone) == goes


def test_chain_is_worked_out_from_its_anchor() -> None:
    """3 avoids 2, which follows 1, which avoids 0: listed backwards on purpose."""
    chain = [
        Profile(likes(0, 0, 1), (), avoids=1),
        Profile(likes(2), (), follows=2),
        Profile(likes(1, 1, 0), (), avoids=3),
        Profile(likes(1, 1), ()),
    ]
    assert depths(chain) == (4, 3, 2, 1)
    assert destinations(chain) == {0: 1, 1: 0, 2: 0, 3: 1}


def test_cycle_of_relations_is_refused() -> None:
    circle = (Agent("x", ("a",), (), follows=1), Agent("y", ("a",), (), avoids=0))
    with pytest.raises(ValueError, match="Agent number 1 depends on itself"):
        depths(circle)
    with pytest.raises(ValueError, match="an agent that does not exist"):
        depths((Agent("x", ("a",), (), follows=7),))


def test_rational_actions_follow_the_players_own_predictions_right_or_wrong() -> None:
    assert rational_actions(printed.L1, {0: 0, 1: 0, 2: 1, 3: 2}) == {3}
    assert rational_actions(printed.L1, {0: 0, 1: 0, 2: 0, 3: 0}) == {1, 2, 3}
    assert rational_actions(printed.L1, {0: 0, 1: 1, 2: 2, 3: 3}) == {0, 1, 2, 3}


@pytest.mark.parametrize("predicted", [{0: 0, 1: 1}, {0: 0, 1: 1, 2: 2, 3: 4}])
def test_incomplete_and_impossible_predictions_are_refused(predicted: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="a place from 0 to 3 for each of the 4"):
        rational_actions(printed.L1, predicted)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"level": 0}, "level 0 is not one of 1 to 3"),
        ({"level": 2}, "reach level 1, not the stated level 2"),
        ({"places": printed.L1.places[:3]}, "it has 3 places"),
        ({"places": printed.L1.places[:1] * 4}, "two of its places"),
        ({"agents": printed.L1.agents[:1] * 2}, "two of its agents"),
        ({"agents": ()}, "no agents"),
    ],
)
def test_broken_scenarios_are_refused_with_a_reason(
    changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        check(replace(printed.L1, **changes))


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_rational_places_are_the_emptiest(predicted: list[int]) -> None:
    guess = dict(enumerate(predicted))
    counts = headcounts(guess)
    assert sum(counts) == 4
    actions = rational_actions(printed.L1, guess)
    assert actions == {place for place in range(4) if all(counts[place] <= c for c in counts)}


@given(st.permutations(range(4)))
def test_answer_does_not_depend_on_the_order_of_places(order: list[int]) -> None:
    for scenario, right in zip(printed.ALL, RIGHT, strict=True):
        listed = replace(scenario, places=tuple(scenario.places[i] for i in order))
        assert listed.places[answer(listed)].name == right


def test_profiles_keep_the_order_of_the_page() -> None:
    assert profiles(printed.L1)[0] == Profile(((2,), (1,)), ((0,), (1,)))
    assert profiles(printed.L2)[1].likes == ((),)  # cold spirits are nowhere
