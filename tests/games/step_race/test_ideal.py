"""The Bayes-adaptive racer: brute force on short races, and nobody beats it in expectation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import sally
from sally.analysis.profile.ideal_scale import ideal_rows
from sally.games.step_race.ideal import MINDS, POOL, RacePool
from sally.games.step_race.rules import MOVES, prize, triple
from sally.games.step_race.solver import NOBODY, missing_after, solve_race


def move_of(mind, missing, number, turn):
    return MOVES[mind.moves(missing, number, turn, NOBODY).index(1.0)]


def brute(missing, turn, pairs, rounds_left):
    """Return the summed points over the pairs of minds that fit, by listing them all."""
    points = prize(triple(-r for r in missing), 0)
    if points is not None:
        return points[0] * len(pairs)
    if not rounds_left:
        return 0.0
    split: dict = {}
    for first, two in pairs:
        moves = move_of(first, missing, 1, turn), move_of(two, missing, 2, turn)
        split.setdefault(moves, []).append((first, two))
    return max(
        sum(
            brute(missing_after(missing, 0, own_move, *m), turn + 1, subset, rounds_left - 1)
            for m, subset in split.items()
        )
        for own_move in MOVES
    )


@pytest.mark.parametrize("missing", [(3, 3, 3), (5, 4, 6), (6, 6, 6)])
def test_value_equals_brute_force_on_a_short_race(missing):
    pool = RacePool(missing, 0)
    pairs = list(product(MINDS, MINDS))
    assert pool.value(pool.start(), 0) == pytest.approx(brute(missing, 1, pairs, 7) / len(pairs))


def test_value_against_known_partners_equals_the_solver():
    for number in range(3):
        pool = RacePool((9, 9, 9), number)
        for first, two in ((0, 4), (2, 3), (4, 4), (1, 1)):
            known_value = solve_race(9, number, (MINDS[first], MINDS[two])).value((9, 9, 9))
            assert pool.known_value(first * len(MINDS) + two, 0) == pytest.approx(known_value)


def earned(pool, missing, policy, limit=40):
    """Return the mean points of a policy over all pairs of the pool."""
    total = 0.0
    for first, two in product(MINDS, MINDS):
        belief, here, turn = pool.start(), missing, 1
        while (points := prize(triple(-r for r in here), 0)) is None and turn <= limit:
            moves = move_of(first, here, 1, turn), move_of(two, here, 2, turn)
            own_move = policy(belief)
            pair = 3 * MOVES.index(moves[0]) + MOVES.index(moves[1])
            belief, turn = pool.update_belief(belief, own_move, pair), turn + 1
            here = missing_after(here, 0, MOVES[own_move], *moves)
            assert here == belief.missing
        total += 0.0 if points is None else points[0]
    return total / len(MINDS) ** 2


def test_ideal_player_earns_its_value_and_no_policy_earns_more():
    missing = (8, 8, 8)
    pool = RacePool(missing, 0)
    value = pool.value(pool.start(), 0)
    ideal = earned(pool, missing, pool.best)
    assert ideal == pytest.approx(value) and pool.informed_value(0) >= value - 1e-12
    for seed in range(60):
        rng, kept_fields = np.random.default_rng(seed), {}

        def policy(belief, kept=kept_fields, rng=rng):
            return kept.setdefault(belief, int(rng.integers(3)))

        assert earned(pool, missing, policy) <= value + 1e-9


def test_informed_value_exceeds_adaptive_value_in_a_short_race():
    pool = RacePool((6, 6, 6), 0)
    assert pool.informed_value(0) - pool.value(pool.start(), 0) == pytest.approx(
        0.72 - 0.6933333333
    )


def test_regret_parts_add_up_and_ideal_player_has_no_move_loss():
    episodes = [
        sally.play(
            "step_race", {"player_1": player_name, "player_2": text, "player_3": two}, 3, target=8,
            talks=talks, probes={"player_1": ["their_move"]},
        )
        for player_name in ("bayes_adaptive", "free_of_last")
        for text, two, talks in (("finisher", "rotator", 0), ("always", "rotator", 1))
    ]  # fmt: skip
    rows = {row.player: row for row in ideal_rows(episodes) if row.seat == "player_1"}
    ideal = rows["bayes_adaptive"]
    assert ideal.by_moves.value == pytest.approx(0)
    assert ideal.knowing_of_ideal.value == pytest.approx(1)
    for row in rows.values():
        parts = row.price.value + row.by_moves.value + row.pool_luck.value
        assert row.pool_regret.value == pytest.approx(parts)


def test_opponents_outside_the_pool_have_no_ideal_line():
    assert {player.player for player in POOL} == {"always", "finisher", "rotator"}
    lineup = {"player_1": "always", "player_2": "blocker", "player_3": "rotator"}
    rows = ideal_rows([sally.play("step_race", lineup, 3, target=8, talks=0)])
    assert [row.seat for row in rows] == ["player_2"]  # it alone faces two opponents of the pool


def test_luck_is_zero_on_average_over_the_pool():
    """A player that makes the others' move loses no steps to them; its loss is counted once."""
    seats = {"player_2": "player_2", "player_3": "player_3"}
    episodes = [
        sally.play("step_race", {"player_1": "random", **dict(zip(seats, pair, strict=True))}, seed,
                   target=6, talks=0)
        for pair in product(POOL, POOL) for seed in range(4)
    ]  # fmt: skip
    (row,) = (row for row in ideal_rows(episodes) if row.seat == "player_1")
    assert row.pool_luck.value == pytest.approx(0, abs=1e-9) and row.by_moves.value < 1
