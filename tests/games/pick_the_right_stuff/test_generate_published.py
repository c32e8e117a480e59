"""The scene machine, and what mindless rules earn in its games."""

from math import sqrt
from random import Random
from statistics import mean, stdev

import pytest

from sally.games.pick_the_right_stuff.generate_published import (
    ObservingMode,
    published_games,
    random_cycle,
)
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Reset,
    Snapshot,
    Visit,
    check,
    is_single_cycle,
    play_game,
    score,
)
from sally.games.pick_the_right_stuff.rules_of_thumb import game_score, start, true
from sally.games.pick_the_right_stuff.tracker import where_user_will_look


@pytest.mark.parametrize(
    ("mode", "start_score", "true_score"), [("zero", 75.5, 33.8), ("finite", 79.3, 28.1)]
)
def test_mindless_rules_score_as_in_the_protocol(
    mode: ObservingMode, start_score: float, true_score: float
) -> None:
    games = published_games(mode, users=5, count=2000, seed=5)
    by_game = [(game_score(game, start), game_score(game, true)) for game in games]
    for scores, expected in zip(zip(*by_game, strict=True), (start_score, true_score), strict=True):
        assert abs(mean(scores) - expected) < 4 * stdev(scores) / sqrt(len(scores)) + 0.05


def test_most_users_collect_before_they_have_seen_anything_new() -> None:
    # A decision about a user is take (1/2) or a successful look (1/4): take comes first in 2 of 3.
    unseen = asked_count = 0
    for game in published_games("zero", users=5, count=1500, seed=3):
        looked: set[int] = set()
        for move in game.script:
            if isinstance(move, Visit):
                looked.add(move.user)
            elif isinstance(move, Collection):
                asked_count += 1
                unseen += move.user not in looked
    assert abs(unseen / asked_count - 2 / 3) < 4 * sqrt(2 / 9 / asked_count)


@pytest.mark.parametrize("mode", ["zero", "finite"])
@pytest.mark.parametrize("users", [2, 3, 8])
def test_games_are_playable_and_a_tracker_is_always_right(mode: ObservingMode, users: int) -> None:
    for game in published_games(mode, users, count=30, seed=1):
        check(game)
        assert score(play_game(game, where_user_will_look)) == 100
        looks = {type(move) for move in game.script} - {Reset, Collection}
        assert looks <= {Visit if mode == "zero" else Snapshot}


def test_snapshots_are_uniform_between_the_last_sight_and_now() -> None:
    fresh = [
        (back, states)
        for game in published_games("finite", users=3, count=1500, seed=9)
        for back, states in first_snapshots(game.script)
    ]
    thirds = [back for back, states in fresh if states == 3]
    for back in (1, 2, 3):
        share = thirds.count(back) / len(thirds)
        assert abs(share - 1 / 3) < 4 * sqrt(2 / 9 / len(thirds))


def first_snapshots(script: tuple[object, ...]) -> list[tuple[int, int]]:
    """List (back, number of states) of each user's first snapshot."""
    states, numbers, pairs = 1, set[int](), list[tuple[int, int]]()
    for move in script:
        states += isinstance(move, Reset | Collection)
        if isinstance(move, Snapshot) and move.user not in numbers:
            numbers.add(move.user)
            pairs.append((move.back, states))
    return pairs


def test_placement_is_a_parameter() -> None:
    own_instances = published_games("zero", 5, 20, seed=2, placement="own_box")
    assert {game.placement for game in own_instances} == {(0, 1, 2, 3, 4)}
    assert len({game.placement for game in published_games("zero", 5, 20, seed=2)}) > 10


def test_games_follow_the_seed_and_share_one_stream() -> None:
    games = published_games("finite", 5, 10, seed=4)
    assert games == published_games("finite", 5, 10, seed=4)
    assert games[:5] == published_games("finite", 5, 5, seed=4)
    assert games != published_games("finite", 5, 10, seed=5)


def test_reset_is_drawn_from_all_single_cycles() -> None:
    chance = Random(0)
    numbers = [random_cycle(4, chance) for _ in range(6000)]
    assert all(is_single_cycle(to) for to in numbers)
    counts = [numbers.count(to) for to in set(numbers)]
    assert len(counts) == 6
    assert all(abs(count - 1000) < 4 * sqrt(1000 * 5 / 6) for count in counts)
