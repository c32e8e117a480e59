"""Depth is read from moves: by hand, by Bayes' rule, and as a mixture that is found again."""

from __future__ import annotations

import pytest

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.games.level_k.depths import (
    LEVELS,
    depth_of,
    distance,
    estimate_depth,
    fit_levels,
    fitted_tau,
)
from sally.games.level_k.minds import NOTHING, k_tom, ladder
from sally.games.level_k.payoffs import Boxes, Contest, Pennies, Request
from sally.games.level_k.people import read_published
from sally.games.level_k.rules import LevelGame, View
from sally.games.level_k.solvers import mix_odds

ONE, TWO = Seat("player_1"), Seat("player_2")
ELEVEN_TWENTY, CONTEST = LevelGame(), LevelGame(pays=Contest())


def test_depth_of_a_request_is_its_steps_below_the_top() -> None:
    assert [depth_of(ELEVEN_TWENTY, n) for n in (20, 19, 17, 11)] == [0, 1, 3, 9]
    wide = LevelGame(pays=Request(low=1, high=30, gap=3))
    assert [depth_of(wide, n) for n in (30, 27, 29)] == [0, 1, None]


def test_contest_number_has_a_depth_within_a_quarter_step() -> None:
    """Nagel's neighbourhoods (1995): for 2/3, level 1 is 30.1 to 36.9, level 2 20.1 to 24.6."""
    depths = [depth_of(CONTEST, n) for n in (50, 33, 31, 36, 30, 22, 15, 40, 0, 100)]
    assert depths == [0, 1, 1, 1, None, 2, 3, None, None, None]
    above = LevelGame(pays=Contest(share="4/3"))
    assert [depth_of(above, n) for n in (50, 67, 89, 30)] == [0, 1, 2, None]


def test_box_choice_has_no_depth() -> None:
    assert depth_of(LevelGame(pays=Boxes()), 2) is None


def moves(game: LevelGame, numbers: list[int]) -> list[tuple[View, int]]:
    view = game.observe(game.start(), ONE)
    return [(view, number) for number in numbers]


def test_one_move_is_informative_only_where_levels_differ() -> None:
    sure = estimate_depth(ELEVEN_TWENTY, ONE, moves(ELEVEN_TWENTY, [18]))
    assert sure is not None
    assert sure.chances == pytest.approx((0.01 / 0.94, 0.01 / 0.94, 0.91 / 0.94, 0.01 / 0.94))
    assert sure.mean == pytest.approx(sum(k * p for k, p in enumerate(sure.chances)))
    blank = estimate_depth(ELEVEN_TWENTY, ONE, moves(ELEVEN_TWENTY, [12]))
    assert blank is not None
    assert (blank.mean, blank.sd) == (pytest.approx(1.5), pytest.approx(1.25**0.5))
    assert estimate_depth(ELEVEN_TWENTY, ONE, []) is None


def test_repeated_moves_reduce_the_depth_uncertainty() -> None:
    first_depth, often = (estimate_depth(CONTEST, ONE, moves(CONTEST, [22] * n)) for n in (1, 5))
    assert first_depth is not None and often is not None
    assert often.sd < first_depth.sd
    assert often.mean == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_moves_of_k_tom_raise_the_weight_of_its_true_depth(k: int) -> None:
    """Twelve games of sixty rounds: the true level has more weight than at the start."""
    game = LevelGame(pays=Pennies(), rounds=60)
    weights = []
    for seed in range(12):
        mind, rival = k_tom(game, ONE, k), k_tom(game, TWO, 1)
        draws, state, seen = Stream("coins", k, seed), game.start(), []
        for _ in range(60):
            view = game.observe(state, ONE)
            own_move = draws.draw(mind.does(view))
            seen.append((view, own_move))
            other_move = draws.draw(rival.does(game.observe(state, TWO)))
            state = game.step(state, {ONE: own_move, TWO: other_move})
        depth = estimate_depth(game, ONE, seen)
        assert depth is not None
        weights.append(depth.chances[k])
    assert sum(weights) / len(weights) > 0.4


def test_level_mixture_is_recovered_by_the_fit() -> None:
    shares, error, n = (0.1, 0.2, 0.4, 0.1), 0.2, 4000
    levels = [mind.does(NOTHING) for mind in ladder(ELEVEN_TWENTY, ONE)]
    even = dict.fromkeys(ELEVEN_TWENTY.menu(ONE), 0.1)
    odds = mix_odds([*zip(shares, levels, strict=True), (error, even)])
    counts = {move: round(n * p) for move, p in odds.items()}
    level_mixture = fit_levels(ELEVEN_TWENTY, ONE, counts, draws=50)
    assert [s.value for s in level_mixture.shares] == pytest.approx(shares, abs=0.01)
    assert level_mixture.error.value == pytest.approx(error, abs=0.01)
    assert level_mixture.depth.value == pytest.approx((0.2 + 0.8 + 0.3) / 0.8, abs=0.02)
    for estimate in (*level_mixture.shares, level_mixture.error, level_mixture.depth):
        assert estimate.low is not None and estimate.high is not None
        assert estimate.low <= estimate.value <= estimate.high  # type: ignore[operator]


def test_people_at_eleven_twenty_think_two_or_three_steps() -> None:
    """17 and 18 are 62 of 108: the abstract says that almost all think at most three steps."""
    level_mixture = fit_levels(ELEVEN_TWENTY, ONE, read_published()["request"].counts, draws=100)
    values = [s.value for s in level_mixture.shares]
    assert len(values) == LEVELS
    assert values[3] == max(v for v in values if v is not None)
    assert (values[2] or 0) + (values[3] or 0) > 0.5
    assert 2 < (level_mixture.depth.value or 0) < 3


def test_distances_range_from_zero_to_one() -> None:
    people = read_published()["request"].odds
    assert distance(people, people) == 0
    assert distance({11: 1.0}, {20: 1.0}) == 1
    assert distance({19: 0.5, 20: 0.5}, {19: 1.0}) == 0.5


def test_tau_grows_with_depth() -> None:
    shallow = fitted_tau(ELEVEN_TWENTY, ONE, {19: 80, 20: 20}, draws=10)
    deep = fitted_tau(ELEVEN_TWENTY, ONE, {17: 50, 18: 40, 16: 10}, draws=10)
    assert shallow.value is not None and deep.value is not None
    assert shallow.value < deep.value


def test_unfittable_data_is_refused() -> None:
    for game, counts in (
        (LevelGame(pays=Pennies()), {0: 5, 1: 5}),
        (ELEVEN_TWENTY, {21: 5}),
        (ELEVEN_TWENTY, {20: 1}),
    ):
        with pytest.raises(BadInput):
            fit_levels(game, ONE, counts)
