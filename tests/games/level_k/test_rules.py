"""What a round pays, who sees what, and which parameters cannot be a game."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.simultaneous import mean_of
from sally.games.level_k.payoffs import Boxes, Contest, Pennies, Request
from sally.games.level_k.rules import LevelGame

ONE, TWO = Seat("player_1"), Seat("player_2")


def test_asking_for_one_less_than_the_other_earns_the_bonus() -> None:
    assert Request().pay((17, 18)) == (37, 18)
    assert Request().pay((18, 17)) == (18, 37)
    assert Request().pay((17, 17)) == (17, 17)
    assert Request().pay((16, 18)) == (16, 18)
    assert Request(gap=2, bonus=5).pay((16, 18)) == (21, 18)


def test_nearest_to_two_thirds_of_the_mean_wins() -> None:
    assert Contest().pay((33, 22, 50)) == (0, 20, 0)  # the goal is 23.3
    assert Contest().pay((0, 0, 0)) == (20 / 3,) * 3


def test_tie_in_a_contest_is_exact() -> None:
    """2/3 of the mean of 1, 3 and 5 is 2: the first two are equally far from it."""
    assert Contest().pay((1, 3, 5)) == (10, 10, 0)


def test_with_two_players_the_lower_number_wins() -> None:
    contest = Contest(players=2)
    assert all(contest.pay((a, b))[0] == 20 for b in range(1, 101) for a in range(b))


def test_seeker_wins_by_choosing_the_hiders_box() -> None:
    assert Boxes().pay((2, 2)) == (0, 1)
    assert Boxes().pay((1, 2)) == (1, 0)


def test_first_player_wins_if_the_coins_differ() -> None:
    assert Pennies().pay((1, 1)) == (-1, 1)
    assert Pennies().pay((0, 1)) == (1, -1)


def test_mean_is_rounded_half_up() -> None:
    assert [mean_of(m) for m in ((3,), (1, 2), (1, 1, 2), (0, 0, 2))] == [3, 2, 1, 1]


def test_forfeited_round_is_void_and_reveals_nothing() -> None:
    game = LevelGame(rounds=2)
    state = game.forfeit(game.start(), {ONE: 17}, (TWO,))
    assert state == game.forfeit(game.start(), {ONE: 11}, (TWO,))
    assert list(game.observe(state, TWO).past) == [None]
    assert game.payoffs(state) == {ONE: 0, TWO: 0}
    assert game.to_move(state) == (ONE, TWO)


def test_three_void_rounds_in_a_row_end_without_a_result() -> None:
    game = LevelGame(rounds=9)
    state = game.start()
    for _ in range(3):
        assert game.censored(state) is None
        state = game.forfeit(state, {}, (ONE, TWO))
    assert game.censored(state)


def test_contest_allows_any_number_of_players() -> None:
    for players in (2, 3, 15, 20):
        game = registry.game("beauty_contest").build(
            {"pays": {"kind": "contest", "players": players}}
        )
        assert len(game.seats) == players


@pytest.mark.parametrize(
    "params",
    [
        {"pays": {"kind": "request", "low": 20, "high": 11}},
        {"pays": {"kind": "request", "gap": 0}},
        {"pays": {"kind": "request", "gap": 10}},
        {"pays": {"kind": "request", "bonus": 0}},
        {"pays": {"kind": "contest", "players": 1}},
        {"pays": {"kind": "contest", "players": 21}},
        {"pays": {"kind": "contest", "share": "2/0"}},
        {"pays": {"kind": "contest", "share": "0"}},
        {"pays": {"kind": "contest", "share": "most"}},
        {"pays": {"kind": "contest", "low": -1}},
        {"pays": {"kind": "boxes", "labels": ["A"]}},
        {"pays": {"kind": "boxes", "labels": ["A", ""]}},
        {"pays": {"kind": "boxes", "salient": 4}},
        {"pays": {"kind": "pennies", "names": ["Heads", "heads"]}},
        {"pays": {"kind": "dice"}},
        {"pays": {"kind": "request", "players": 3}},
        {"rounds": 0},
        {"void_limit": 0},
    ],
)
def test_invalid_parameters_are_refused_with_one_message(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as error:
        registry.game("level_k").build(params)
    assert "\n" not in str(error.value) and len(str(error.value)) < 200
