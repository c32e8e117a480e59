"""The ideal observer and the Bayes-adaptive player, against brute force on small pools."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sally.stats.ideal import Ideal, PoolMachine, SeenRound, forecasts, split

PAY = np.array([[3.0, 0.0], [5.0, 1.0]])  # cooperate, defect


def machine(odds: list[list[float]], after: list[list[list[int]]]) -> PoolMachine:
    return PoolMachine(np.array(odds), np.array(after, dtype=np.intp))


ALWAYS_C = machine([[1, 0]], [[[0, 0], [0, 0]]])
ALWAYS_D = machine([[0, 1]], [[[0, 0], [0, 0]]])
TIT_FOR_TAT = machine([[1, 0], [0, 1]], [[[0, 1], [0, 0]], [[0, 0], [0, 1]]])
GRIM = machine([[1, 0], [0, 1]], [[[0, 1], [0, 0]], [[1, 1], [1, 1]]])
COIN = machine([[0.5, 0.5]], [[[0, 0], [0, 0]]])
LEAN = machine([[0.9, 0.1]], [[[0, 0], [0, 0]]])


def brute_force(pool: list[PoolMachine], weights: list[float], rounds: int) -> float:
    """Return the best expected total over every policy that maps the partner's past to a move."""
    pasts = [past for n in range(rounds) for past in product((0, 1), repeat=n)]
    best = -np.inf
    for moves in product((0, 1), repeat=len(pasts)):
        policy = dict(zip(pasts, moves, strict=True))
        total = sum(
            w * compute_expected(policy, first, rounds)
            for w, first in zip(weights, pool, strict=True)
        )
        best = max(best, total)
    return float(best) / sum(weights)


def compute_expected(
    policy: dict[tuple[int, ...], int], against: PoolMachine, rounds: int
) -> float:
    def from_here(past: tuple[int, ...], state: int) -> float:
        if len(past) == rounds:
            return 0.0
        mine, total = policy[past], 0.0
        for other_move in (0, 1):
            if p := against.odds[state, other_move]:
                then = from_here(
                    (*past, other_move), int(against.next_states[state, other_move, mine])
                )
                total += p * (PAY[mine, other_move] + then)
        return float(total)

    return from_here((), 0)


@pytest.mark.parametrize(
    ("pool", "weights"),
    [
        ([ALWAYS_C, ALWAYS_D, TIT_FOR_TAT, GRIM], [1, 1, 1, 1]),
        ([ALWAYS_C, TIT_FOR_TAT, GRIM], [3, 1, 2]),
        ([TIT_FOR_TAT, COIN, LEAN], [1, 1, 1]),
    ],
)
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_policy_beats_the_bayes_adaptive_player_and_it_earns_its_value(
    pool: list[PoolMachine], weights: list[float], rounds: int
) -> None:
    ideal = Ideal(PAY, pool, weights)
    value = ideal.value(ideal.start(), rounds)
    assert value == pytest.approx(brute_force(pool, weights, rounds))
    assert ideal.earns(rounds) == pytest.approx(value)
    assert ideal.informed_value(rounds) >= value - 1e-9


def test_approximation_is_an_upper_bound_with_a_known_gap() -> None:
    pool = [TIT_FOR_TAT, COIN, LEAN, GRIM]
    exact, rough = Ideal(PAY, pool, lookahead=6), Ideal(PAY, pool, lookahead=1)
    value = exact.value(exact.start(), 6)
    assert exact.bound_gap(6) == pytest.approx(0.0)
    assert rough.value(rough.start(), 6) >= value - 1e-9 >= rough.earns(6) - 1e-8
    assert rough.bound_gap(6) >= 0


def test_observer_follows_bayes_rule() -> None:
    ideal = Ideal(PAY, [COIN, LEAN])
    belief = ideal.update_belief(ideal.start(), 0, 0)
    assert belief.weights == pytest.approx((0.5 / 1.4, 0.9 / 1.4))
    assert ideal.forecast(belief)[0] == pytest.approx(0.5 * 0.5 / 1.4 + 0.9 * 0.9 / 1.4)
    seen_rounds = [SeenRound(0, 0, None)] * 3
    values = [float(odds[0]) for odds, _ in forecasts(ideal, seen_rounds)]
    assert values == sorted(values)


def test_move_outside_the_pool_does_not_change_the_weights() -> None:
    ideal = Ideal(PAY, [ALWAYS_C, ALWAYS_D])
    sure = ideal.update_belief(ideal.start(), 0, 0)
    assert ideal.update_belief(sure, 0, 1).weights == sure.weights


@pytest.mark.parametrize("pool", [[ALWAYS_C, ALWAYS_D, TIT_FOR_TAT, GRIM], [TIT_FOR_TAT, COIN]])
def test_parts_add_up_and_luck_is_zero_on_average(pool: list[PoolMachine]) -> None:
    ideal, rounds = Ideal(PAY, pool), 4
    rng = np.random.default_rng(1)
    policy = {past: int(rng.integers(2)) for n in range(4) for past in product((0, 1), repeat=n)}
    luck = moves = 0.0
    for place, first in enumerate(pool):
        for past in product((0, 1), repeat=rounds):
            state, chance, seen = 0, 1 / len(pool), []
            for n, their_turn in enumerate(past):
                mine = policy[past[:n]]
                chance *= first.odds[state, their_turn]
                state = int(first.next_states[state, their_turn, mine]) if chance else state
                seen.append(SeenRound(mine, their_turn, (0.7, 0.3)))
            if chance:
                parts = split(ideal, place, seen)
                assert parts.inference is not None and parts.translation is not None
                total = parts.price + parts.inference + parts.translation + parts.luck
                assert parts.regret == pytest.approx(total)
                assert parts.moves >= -1e-9 and parts.price >= -1e-9 and parts.inference >= -1e-9
                luck, moves = luck + chance * parts.luck, moves + chance * parts.moves
    assert luck == pytest.approx(0.0, abs=1e-9)
    assert moves >= 0


def test_ideal_player_has_no_move_loss() -> None:
    ideal = Ideal(PAY, [ALWAYS_C, ALWAYS_D, TIT_FOR_TAT, GRIM])
    belief, state, seen = ideal.start(), 0, []
    for remaining_count in range(6, 0, -1):
        own_number = ideal.best(belief, remaining_count)[0]
        their_number = int(TIT_FOR_TAT.odds[state].argmax())
        seen.append(SeenRound(own_number, their_number, tuple(ideal.forecast(belief))))
        belief, state = (
            ideal.update_belief(belief, own_number, their_number),
            int(TIT_FOR_TAT.next_states[state, their_number, own_number]),
        )
    parts = split(ideal, 2, seen)
    assert parts.moves == pytest.approx(0.0) and parts.inference == pytest.approx(0.0)


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="one weight above 0 for each"):
        Ideal(PAY, [ALWAYS_C, COIN], [1.0])
    with pytest.raises(ValueError, match="at least one machine"):
        Ideal(PAY, [])
