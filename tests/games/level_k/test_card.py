"""No fixed answer serves against minds of every depth, by arithmetic and not by sampling."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sally.core.registry import registry
from sally.core.rules.card import Condition
from sally.core.rules.game import Seat
from sally.games.level_k.card import CARD
from sally.games.level_k.minds import NOTHING, level, mind_of
from sally.games.level_k.payoffs import Contest
from sally.games.level_k.rules import LevelGame
from sally.games.level_k.solvers import worths


def conditions(game: str, words: str = "level") -> list[Condition]:
    return [c for c in CARD.of(game) if words in c.name]


def shares(condition: Condition) -> list[tuple[float, float]]:
    """By place on the menu: (mean payoff, share of best replies) over the condition's instances."""
    seat = Seat(condition.seat)
    rows = []
    for problem in condition.instances:
        game = registry.game(problem.game).build(problem.params)
        assert isinstance(game, LevelGame)
        odds = []
        for other_seat in game.others(seat):
            mind = mind_of(game, other_seat, condition.others[other_seat])
            assert mind is not None
            odds.append(mind.does(NOTHING))
        value = worths(game, seat, odds)
        assert value is not None
        rows.append([(w, float(w >= max(value) - 1e-9)) for w in value])
    n = len(rows)
    return [
        (sum(w for w, _ in column) / n, sum(b for _, b in column) / n)
        for column in zip(*rows, strict=True)
    ]


@pytest.mark.parametrize("game", ["eleven_twenty", "beauty_contest"])
def test_fixed_number_is_right_for_one_depth_at_most(game: str) -> None:
    square = conditions(game)
    assert len(square) == 4
    places = zip(*(shares(condition) for condition in square), strict=True)
    assert max(sum(right for _, right in place) for place in places) == 1


@pytest.mark.parametrize("k", range(4))
def test_zero_wins_against_two_players_of_equal_level(k: int) -> None:
    game = LevelGame(pays=Contest(players=3))
    (number,) = level(game, game.seats[0], k).does(NOTHING)
    value = worths(game, game.seats[0], [{number: 1.0}] * 2)
    assert value is not None
    assert value[0] == max(value) == 20


@pytest.mark.parametrize(("role", "even"), [("hider", Fraction(3, 4)), ("seeker", Fraction(1, 4))])
def test_fixed_box_earns_the_same_as_chance_at_every_depth(role: str, even: Fraction) -> None:
    square = conditions("hide_and_seek", role)
    assert len(square) == 5
    for condition in square:
        assert condition.chance == {"won_per_round": float(even)}
        for value, _ in shares(condition):
            assert value == pytest.approx(float(even))
