"""The frozen sets: complete, playable, regenerable, and even where they claim to be."""

from collections.abc import Iterable
from math import lcm, sqrt
from random import Random
from statistics import mean

import pytest

from benchmarks.problem_sets.pick_the_right_stuff import (
    leans,
    leans_by_looks,
    make,
    most_even,
    sets_as_json,
)
from sally.games.pick_the_right_stuff.extrapolation import FAMILIES
from sally.games.pick_the_right_stuff.frozen import (
    COLLECTIONS,
    SIZES,
    CollectionName,
    frozen_games,
    frozen_sets,
)
from sally.games.pick_the_right_stuff.generate_balanced import balanced_games
from sally.games.pick_the_right_stuff.locker import (
    Instance,
    check,
    occupied_in,
    own_looks,
    play_game,
    questions,
    score,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import (
    RULES_OF_THUMB,
    RuleOfThumb,
    any_box,
    game_score,
    random,
)
from sally.games.pick_the_right_stuff.tracker import where_user_saw_it_last, where_user_will_look
from tests.games.pick_the_right_stuff.families import family_of

BALANCED: tuple[CollectionName, ...] = (
    "balanced_zero",
    "balanced_finite",
    "balanced_2_zero",
    "balanced_2_finite",
)
EVEN: tuple[CollectionName, ...] = (*BALANCED, "infinite_2")


def expected_score(games: Iterable[Instance], rule: RuleOfThumb) -> float:
    """Return the mean expected score of a rule over games."""
    return mean(game_score(game, rule) for game in games)


def _slack(collection: CollectionName) -> float:
    """Return 1.5 for the second sets, which were chosen for the number of looks as well."""
    return 1.5 if collection.startswith("balanced_2") else 1.0


@pytest.mark.parametrize("users", SIZES)
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_sixty_different_games_all_won_by_the_tracker(
    collection: CollectionName, users: int
) -> None:
    games = frozen_games(collection, users)
    assert len(games) == len({(game.placement, game.script) for game in games}) == 60
    assert len({game.name for game in games}) == 60
    for game in games:
        assert game.users == users
        assert game.mode in collection.split("_")
        check(game)
        assert score(play_game(game, where_user_will_look)) == 100


@pytest.mark.parametrize("users", SIZES)
@pytest.mark.parametrize("collection", EVEN)
def test_rules_of_thumb_deviate_from_chance_by_at_most_one_hit(
    collection: CollectionName, users: int
) -> None:
    games = frozen_games(collection, users)
    guess = expected_score(games, any_box if collection == "infinite_2" else random)
    for name, rule in RULES_OF_THUMB.items():
        hits_off = (expected_score(games, rule) - guess) / 100 * users * len(games)
        assert abs(hits_off) < 1.01 * _slack(collection), name


@pytest.mark.parametrize("users", SIZES)
@pytest.mark.parametrize("collection", BALANCED)
def test_rules_of_thumb_are_balanced_within_every_stratum(
    collection: CollectionName, users: int
) -> None:
    rules, one_hit = list(RULES_OF_THUMB.values()), lcm(*range(1, users + 1))
    table = [leans(game, rules, random) for game in frozen_games(collection, users)]
    most = one_hit * _slack(collection)
    assert max(abs(sum(column)) for column in zip(*table, strict=True)) <= most


@pytest.mark.parametrize("users", SIZES)
@pytest.mark.parametrize("collection", BALANCED)
def test_share_of_true_beliefs_equals_chance(collection: CollectionName, users: int) -> None:
    pairs = [pair for game in frozen_games(collection, users) for pair in questions(game)]
    for remaining_count in range(2, users + 1):
        hits = [
            believed == question_view.states[-1].index(question_view.asked)
            for question_view, believed in pairs
            if len(occupied_in(question_view.states[-1])) == remaining_count
        ]
        assert len(hits) == 60
        assert abs(sum(hits) - 60 / remaining_count) <= 2


@pytest.mark.parametrize("users", SIZES)
def test_naive_rule_is_at_chance_in_infinite_set_with_all_families(users: int) -> None:
    games = frozen_games("infinite_2", users)
    assert {family_of(rule) for game in games for rule in game.rules} == set(FAMILIES)
    naive = mean(score(play_game(game, where_user_saw_it_last)) for game in games)
    assert abs(naive - 100 / users) < 2


@pytest.mark.parametrize("collection", COLLECTIONS[:2])
def test_published_sets_equal_generator_output(collection: CollectionName) -> None:
    kept_frozen_sets = frozen_sets(collection)
    assert (
        tuple(
            make(kept_frozen_set.collection, kept_frozen_set.users, kept_frozen_set.seed)
            for kept_frozen_set in kept_frozen_sets
        )
        == kept_frozen_sets
    )
    assert [kept_frozen_set.users for kept_frozen_set in kept_frozen_sets] == list(SIZES)
    assert sets_as_json(kept_frozen_sets).count(b"\n") > 180


@pytest.mark.parametrize("collection", ["balanced_zero", "balanced_2_zero"])
def test_balanced_set_equals_generator_output(collection: CollectionName) -> None:
    kept_frozen_set = frozen_sets(collection)[0]
    assert (
        make(kept_frozen_set.collection, kept_frozen_set.users, kept_frozen_set.seed)
        == kept_frozen_set
    )


@pytest.mark.parametrize("users", SIZES)
@pytest.mark.parametrize("collection", BALANCED[2:])
def test_number_of_looks_is_uninformative_in_second_sets(
    collection: CollectionName, users: int
) -> None:
    one_hit = lcm(*range(1, users + 1))
    table = [leans_by_looks(game, random) for game in frozen_games(collection, users)]
    assert max(abs(sum(column)) for column in zip(*table, strict=True)) <= 2 * one_hit


def test_number_of_looks_leaked_answers_in_first_zero_set() -> None:
    pairs = [pair for game in frozen_games("balanced_zero", 3) for pair in questions(game)]
    never = [
        (question_view, believed)
        for question_view, believed in pairs
        if not own_looks(question_view)
    ]
    assert len(never) > 20
    assert all(
        believed == question_view.states[0].index(question_view.asked)
        for question_view, believed in never
    )


def test_selected_set_is_more_balanced_than_random_sets() -> None:
    games = balanced_games("zero", 3, 120, seed=5)
    rules = list(RULES_OF_THUMB.values())
    chosen = most_even(games, 30, rules, random, Random(0))
    assert len(set(chosen)) == 30
    assert chosen == most_even(games, 30, rules, random, Random(0))

    def lean(subset: tuple[object, ...]) -> float:
        kept_games = [game for game in games if game in subset]
        guess = game_score(games[0], random)
        return sqrt(sum((expected_score(kept_games, rule) - guess) ** 2 for rule in rules))

    assert lean(chosen) < lean(games[:30]) / 2


def test_unknown_sets_are_refused_with_a_list_of_sets() -> None:
    with pytest.raises(ValueError, match=r"sets for \[3, 5, 8\] users, not for 4"):
        frozen_games("balanced_zero", 4)
    with pytest.raises(ValueError, match="There is no collection 'easy'"):
        frozen_sets("easy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be chosen"):
        most_even((), 1, [], random, Random(0))


def test_second_infinite_set_equals_generator_output() -> None:
    kept_frozen_set = frozen_sets("infinite_2")[0]
    assert (
        make(kept_frozen_set.collection, kept_frozen_set.users, kept_frozen_set.seed)
        == kept_frozen_set
    )
