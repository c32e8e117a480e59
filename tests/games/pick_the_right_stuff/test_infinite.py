"""Rules of extrapolation, the rehearsals that give them away, and the games asked at other gaps."""

from itertools import combinations
from math import sqrt
from random import Random
from statistics import mean, stdev

import pytest

from sally.games.pick_the_right_stuff.extrapolation import (
    FAMILIES,
    Affine,
    Alternate,
    Compounding,
    Family,
    Growing,
    Rule,
    Shift,
    TwoStride,
    distance_moved,
    extrapolate,
    rules_of,
)
from sally.games.pick_the_right_stuff.infinite import (
    LONGEST_GAP,
    even_plans,
    infinite_games,
    is_identified,
    rehearsals,
    signature,
    smallest_gap_sets,
)
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Instance,
    Rehearsal,
    Reset,
    check,
    play_game,
    questions,
    score,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import RULES_OF_THUMB, game_score
from sally.games.pick_the_right_stuff.tracker import (
    fitting_rules,
    last_sight,
    where_user_saw_it_last,
    where_user_will_look,
)
from tests.games.pick_the_right_stuff.families import family_of


@pytest.mark.parametrize(
    ("rule", "seen", "believed"),
    [
        (Shift(2), 0, [0, 2, 4, 1, 3, 0]),
        (Shift(1), 3, [3, 4, 0, 1, 2, 3]),
        (Alternate(3), 1, [1, 4, 1, 4, 1, 4]),
        (Affine(1, 2), 0, [0, 3, 4, 0, 1, 2]),
        (TwoStride(1, 3), 0, [0, 1, 4, 0, 3, 4]),
        (Growing(1, 1), 0, [0, 1, 3, 1, 0, 0]),
        (Compounding(1, 1), 0, [0, 1, 2, 4, 2, 2]),
        (Compounding(0, 2), 1, [1, 1, 3, 0, 4, 0]),
    ],
)
def test_lines_of_belief_on_five_boxes(rule: Rule, seen: int, believed: list[int]) -> None:
    assert [extrapolate(rule, seen, resets, 5) for resets in range(6)] == believed


def test_at_least_five_families_and_every_rule_maps_to_its_family() -> None:
    assert len(FAMILIES) >= 5
    for family in FAMILIES:
        assert {family_of(rule) for rule in rules_of(family, 5)} == {family}


@pytest.mark.parametrize("boxes", [3, 5, 8])
@pytest.mark.parametrize("family", FAMILIES)
def test_rules_of_a_family_are_different_functions(family: Family, boxes: int) -> None:
    rules = list(rules_of(family, boxes))
    assert len({signature(rule, boxes) for rule in rules}) == len(rules)


@pytest.mark.parametrize("boxes", range(2, 9))
def test_rules_equal_at_the_deciding_gaps_are_equal_at_all_gaps(boxes: int) -> None:
    rules = [rule for family in FAMILIES for rule in rules_of(family, boxes)]
    by_signature: dict[tuple[int, ...], Rule] = {}
    for rule in rules:
        twin = by_signature.setdefault(signature(rule, boxes), rule)
        assert all(
            (distance_moved(rule, g) - distance_moved(twin, g)) % boxes == 0 for g in range(40)
        )


def draw_rehearsals(rule: Rule, boxes: int, chance: Random) -> tuple[Rehearsal, ...]:
    gaps = chance.choice(smallest_gap_sets(rule, FAMILIES, boxes))
    return rehearsals(0, rule, gaps, FAMILIES, boxes, chance)


@pytest.mark.parametrize("boxes", [2, 3, 5, 8])
def test_rehearsals_identify_one_rule_and_none_is_redundant(boxes: int) -> None:
    chance = Random(1)
    for family in FAMILIES:
        rule = chance.choice(list(rules_of(family, boxes)))
        shown_rehearsals = draw_rehearsals(rule, boxes, chance)
        fitting = fitting_rules(shown_rehearsals, FAMILIES, boxes)
        assert {signature(r, boxes) for r in fitting} == {signature(rule, boxes)}
        assert [r for r in fitting if family_of(r) == family] == [rule]
        for fewer in combinations(shown_rehearsals, len(shown_rehearsals) - 1):
            assert not is_identified(fewer, FAMILIES, boxes)


def test_fewer_families_in_play_need_fewer_rehearsals() -> None:
    assert {len(gaps) for gaps in smallest_gap_sets(Shift(1), ("shift",), 5)} == {1}
    assert {len(gaps) for gaps in smallest_gap_sets(Shift(1), FAMILIES, 5)} == {2}


def test_ambiguous_rehearsals_are_not_extrapolated() -> None:
    # one box on after one reset: a shift is in box 2 after two resets, an alternation back in 0
    right = Reset((1, 2, 0))
    script = (Rehearsal(0, 0, 1, 1), right, right, Collection(0))
    game = Instance("x", "infinite", 3, (0, 1, 2), script, (Shift(1),) * 3, FAMILIES)
    with pytest.raises(ValueError, match="should leave exactly one"):
        play_game(game, where_user_will_look)


SIZES = {2: 100, 3: 100, 5: 60, 8: 12}


@pytest.fixture(scope="module", params=SIZES)
def games(request: pytest.FixtureRequest) -> tuple[Instance, ...]:
    return infinite_games(request.param, SIZES[request.param], seed=11)


def test_games_are_playable_and_only_the_extrapolating_tracker_is_always_right(
    games: tuple[Instance, ...],
) -> None:
    for game in games:
        check(game)
        assert score(play_game(game, where_user_will_look)) == 100
    frozen = mean(score(play_game(game, where_user_saw_it_last)) for game in games)
    assert frozen < 100 / games[0].users + 20


def test_every_question_is_at_a_gap_not_rehearsed_by_its_user(
    games: tuple[Instance, ...],
) -> None:
    for game in games:
        for question_view, believed in questions(game):
            box, gap = last_sight(question_view)
            stories = [
                e
                for e in question_view.story
                if isinstance(e, Rehearsal) and e.user == question_view.asked
            ]
            assert gap >= 1
            assert gap not in {r.resets for r in stories}
            assert believed == extrapolate(game.rules[question_view.asked], box, gap, game.users)
            assert is_identified(stories, game.families, game.users)


@pytest.mark.parametrize("users", [3, 5])
def test_generator_uses_all_families(users: int) -> None:
    games = infinite_games(users, 60, seed=11)
    assert {family_of(rule) for game in games for rule in game.rules} == set(FAMILIES)


def test_rules_of_thumb_score_at_chance_over_all_boxes(games: tuple[Instance, ...]) -> None:
    for name, rule in RULES_OF_THUMB.items():
        scores = [game_score(game, rule) for game in games]
        error = stdev(scores) / sqrt(len(scores))
        assert abs(mean(scores) - 100 / games[0].users) < 4 * error, name


def test_seed_and_the_families_are_parameters() -> None:
    assert infinite_games(3, 2, seed=1) == infinite_games(3, 2, seed=1)
    only = infinite_games(3, 4, seed=1, families=("growing",))
    assert {family_of(rule) for game in only for rule in game.rules} == {"growing"}


def test_balanced_plans_allow_every_distance_at_every_gap() -> None:
    for boxes in (3, 5):
        plans = even_plans(FAMILIES, boxes)
        assert {gap for gap, _ in plans} == set(range(1, LONGEST_GAP + 1))
        assert all(len(plan) == boxes and all(plan) for plan in plans.values())


def test_families_without_a_balanced_gap_are_refused() -> None:
    with pytest.raises(ValueError, match="can move an item by every distance"):
        infinite_games(3, 1, seed=1, families=("shift",))
