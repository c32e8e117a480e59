"""Equilibria and best replies, held to what is known in closed form and to a plain enumeration."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sally.core.rules.game import Seat
from sally.games.level_k import solvers
from sally.games.level_k.payoffs import Boxes, Contest, Pennies, Request
from sally.games.level_k.people import read_published
from sally.games.level_k.rules import LevelGame
from sally.games.level_k.solvers import Odds

ONE, TWO = Seat("player_1"), Seat("player_2")
ELEVEN_TWENTY = LevelGame()


def deviation_gain(game: LevelGame, odds: Mapping[Seat, Odds]) -> float:
    """Return the largest gain that any seat can get by deviating alone; 0 in an equilibrium."""
    gains = []
    for seat in game.seats:
        value = solvers.worths(game, seat, [odds[other_seat] for other_seat in game.others(seat)])
        assert value is not None  # few enough combinations of moves
        of = dict(zip(game.menu(seat), value, strict=True))
        gains.append(max(value) - sum(p * of[move] for move, p in odds[seat].items()))
    return max(gains)


def balance(game: LevelGame) -> float:
    """What the best deviation from the computed equilibrium would win."""
    return deviation_gain(game, {s: solvers.equilibrium(game, s) for s in game.seats})


def test_equilibrium_of_eleven_twenty_equals_the_published_one() -> None:
    odds = solvers.equilibrium(ELEVEN_TWENTY, ONE)
    expected_fields = {15: 0.25, 16: 0.25, 17: 0.20, 18: 0.15, 19: 0.10, 20: 0.05}
    assert odds == pytest.approx(expected_fields)
    value = solvers.worths(ELEVEN_TWENTY, ONE, [odds])
    assert value is not None
    assert max(value) == pytest.approx(20)
    assert value[14 - 11] == pytest.approx(19)


@pytest.mark.parametrize(
    "pays",
    [
        Request(),
        Request(low=1, high=10, bonus=10),
        Request(low=17, high=20, bonus=20),
        Request(low=19, high=20, bonus=20),
        Request(low=11, high=20, bonus=20, gap=2),
        Request(low=0, high=50, bonus=100, gap=3),
        Request(low=0, high=10, bonus=1),
        Boxes(),
        Boxes(labels=("A", "B", "C"), prize=3),
        Pennies(),
        Contest(),
        Contest(players=4, share="1/2"),
        Contest(share="4/3"),
        Contest(players=2),
    ],
)
def test_deviation_from_equilibrium_gains_nothing(pays: object) -> None:
    assert balance(LevelGame(pays=pays)) == pytest.approx(0, abs=1e-9)  # type: ignore[arg-type]


def test_uniform_play_is_not_an_equilibrium() -> None:
    even = solvers.evenly(range(11, 21))
    assert deviation_gain(ELEVEN_TWENTY, {ONE: even, TWO: even}) > 1


def test_hide_and_seek_equilibrium_is_uniform_with_value_one_quarter() -> None:
    game = LevelGame(pays=Boxes())
    odds = solvers.equilibrium(game, TWO)
    assert odds == pytest.approx(dict.fromkeys(range(4), 0.25))
    value = solvers.worths(game, TWO, [solvers.equilibrium(game, ONE)])
    assert value == pytest.approx([0.25] * 4)


def test_whole_number_contest_has_equilibria_at_zero_and_one() -> None:
    """With real numbers only 0 is left (Nagel 1995); with whole ones and 2/3 also 1."""
    assert solvers.agreements(LevelGame(pays=Contest(players=15))) == (0, 1)
    assert {0, 100} <= set(solvers.agreements(LevelGame(pays=Contest(share="4/3"))))


def test_best_reply_to_people_is_seventeen() -> None:
    people = read_published()["request"].odds
    value = solvers.worths(ELEVEN_TWENTY, ONE, [people])
    assert value is not None
    by_number = dict(zip(ELEVEN_TWENTY.menu(ONE), value, strict=True))
    assert solvers.best_replies(ELEVEN_TWENTY, ONE, [people]) == (17,)
    expected_fields = {17: 23.0, 16: 22.4, 18: 20.4, 19: 20.2, 20: 20.0}
    assert {n: by_number[n] for n in expected_fields} == pytest.approx(expected_fields)


def test_best_reply_in_a_contest_includes_the_own_number() -> None:
    """Against 33 and 33, p S / (N - p) = 18.9 hits the goal; whatever is nearer than 33 wins."""
    game = LevelGame(pays=Contest())
    replies = solvers.best_replies(game, ONE, [{33: 1.0}, {33: 1.0}])
    assert replies is not None
    assert {19, 22, 32} <= set(replies)
    assert 33 not in replies


def test_too_many_combinations_return_none() -> None:
    game = LevelGame(pays=Contest(players=15))
    even = solvers.evenly(range(101))
    assert solvers.worths(game, ONE, [even] * 14) is None
    assert solvers.best_replies(game, ONE, [even] * 14) is None


def test_value_against_certain_moves_equals_the_payoff() -> None:
    game = LevelGame(pays=Contest())
    for seat, n in game.number.items():
        value = solvers.worths(game, seat, [{50: 1.0}, {20: 1.0}])
        assert value is not None
        for mine in (0, 20, 35, 100):
            moves = [50, 20]
            moves.insert(n, mine)
            assert value[mine] == game.pays.pay(tuple(moves))[n]
