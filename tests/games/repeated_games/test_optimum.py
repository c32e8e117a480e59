"""Optimal play against automata, checked against exhaustive search and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import BadInput
from sally.core.match.partner import Automaton
from sally.core.registry import registry
from sally.games.repeated_games.optimum import (
    Machine,
    course_of,
    interestingness,
    machine_of,
    optimal_course,
    optimal_rate,
    optimal_reward,
    pay_table,
    plan,
    random_reward,
    rate_by_program,
    rate_of_certain,
    tabulate,
)
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame, other_seat

IPD = registry.game("ipd").build({})
GRIM = Automaton(
    "calm",
    lambda q: {int(q == "angry"): 1.0},
    lambda q, own, their: "angry" if q == "angry" or their == 1 else "calm",
)
COIN = Automaton(0, lambda q: {0: 0.5, 1: 0.5}, lambda q, own, their: 0)


def tit_for_tat(game: RepeatedGame, **params: int) -> Automaton[int]:
    return registry.partners("repeated_games")["tit_for_tat"].automaton(game, PARTNER, **params)


@st.composite
def automata(draw: st.DrawFn) -> Automaton[int]:
    """Small machines, half of them drawing their moves."""
    size = draw(st.integers(1, 4))
    chances = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=size, max_size=size))
    to = draw(st.lists(st.integers(0, size - 1), min_size=4 * size, max_size=4 * size))
    return Automaton(
        0,
        lambda q: {0: chances[q], 1: 1 - chances[q]},
        lambda q, own, their: to[4 * q + 2 * own + their],
    )


games = st.builds(
    lambda cells, stop: RepeatedGame(
        matrix=((cells[0], cells[1]), (cells[2], cells[3])), rounds=5, stop_chance=stop
    ),
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=4, max_size=4),
    st.sampled_from([0.0, 0.3]),
)


def search(game, seat, automaton, state, rounds_left: int) -> float:
    """The best expected total by trying every course of play; no tables."""
    if rounds_left == 0:
        return 0.0
    return max(
        sum(
            p
            * (
                game.pay(seat, own_move, other_move)
                + (1 - game.stop_chance)
                * search(
                    game,
                    seat,
                    automaton,
                    automaton.after(state, other_move, own_move),
                    rounds_left - 1,
                )
            )
            for other_move, p in automaton.odds(state).items()
        )
        for own_move in (0, 1)
    )


@given(games, automata(), st.sampled_from([AGENT, PARTNER]), st.integers(0, 5))
def test_optimal_reward_equals_exhaustive_search(game, automaton, seat, rounds):
    actual_optimal_reward = optimal_reward(game, seat, automaton, rounds)
    assert actual_optimal_reward == pytest.approx(
        search(game, seat, automaton, automaton.start, rounds)
    )


@given(games, automata())
def test_optimal_rate_equals_mean_reward_of_long_play(game, automaton):
    game = RepeatedGame(matrix=game.matrix)
    long = 1000
    rate = optimal_rate(game, AGENT, automaton)
    assert optimal_reward(game, AGENT, automaton, long) / long == pytest.approx(rate, abs=0.1)


def test_last_round_against_tit_for_tat_is_free():
    for rounds in (1, 2, 10, 100):
        assert optimal_reward(IPD, AGENT, tit_for_tat(IPD), rounds) == 8 * rounds + 2
    best = plan(IPD, AGENT, machine_of(IPD, AGENT, tit_for_tat(IPD)), 3).best
    assert best[0, 0].tolist() == [False, True]  # one round left: defect
    assert best[2, 0].tolist() == [True, False]


def test_first_move_of_the_partner_counts():
    assert optimal_reward(IPD, AGENT, tit_for_tat(IPD, first=1)) == 802 - 8


def test_optimal_rate_against_grim_trigger_is_eight_until_triggered():
    assert optimal_rate(IPD, AGENT, GRIM) == pytest.approx(8)
    angry = Automaton("angry", GRIM.odds, GRIM.after)
    assert optimal_rate(IPD, AGENT, angry) == pytest.approx(5)
    assert optimal_reward(IPD, AGENT, angry) == 500


def test_optimum_against_random_partner_is_an_expectation():
    assert optimal_reward(IPD, AGENT, COIN, 10) == pytest.approx(10 * 7.5)


@pytest.mark.parametrize("stop", [0.1, 0.5])
def test_mean_of_optimal_course_equals_optimum_with_random_stopping(stop):
    game = RepeatedGame(rounds=40, stop_chance=stop)
    partner = tit_for_tat(game)
    course = optimal_course(game, AGENT, machine_of(game, AGENT, partner), 40)
    ends = np.array([(1 - stop) ** n * stop for n in range(39)] + [(1 - stop) ** 39])
    assert ends.sum() == pytest.approx(1)
    assert float(course @ ends) == pytest.approx(optimal_reward(game, AGENT, partner))


def test_high_stop_chance_makes_defection_optimal():
    # defecting for ever: 10 + 5 d / (1 - d); cooperating: 8 / (1 - d); equal at d = 0.4
    for stop, cooperates in ((0.5, True), (0.7, False)):
        game = RepeatedGame(rounds=60, stop_chance=stop)
        best = plan(game, AGENT, machine_of(game, AGENT, GRIM), 60).best
        assert best[-1, 0].tolist() == [cooperates, not cooperates]


def test_plan_against_its_partner_earns_its_value():
    machine = machine_of(IPD, AGENT, tit_for_tat(IPD))
    rewards = course_of(plan(IPD, AGENT, machine, 100), pay_table(IPD, AGENT), machine)
    assert rewards.sum() == pytest.approx(802)


def test_interestingness_of_known_tasks():
    singles = registry.partners("repeated_games")["single_action"].automaton
    for name, known_value in (("rps", 1.0), ("ibs", 4.25), ("ipd", 0.0)):
        game = registry.game(name).build({})
        partners = [singles(game, PARTNER, action=a) for a in game.moves_of(PARTNER)]
        assert interestingness(game, AGENT, partners) == pytest.approx(known_value)
        assert interestingness(game, AGENT, partners[:1]) == 0
    # ibs, by hand: the reply to the wrong partner earns 0 instead of 10 or of 7
    game = registry.game("ibs").build({})
    partners = [singles(game, PARTNER, action=a) for a in (0, 1)]
    assert interestingness(game, AGENT, partners, [3, 1]) == pytest.approx(3 / 16 * (10 + 7))


def test_task_needs_partners_and_weights_that_fit():
    with pytest.raises(BadInput, match="at least one partner"):
        interestingness(IPD, AGENT, [])
    with pytest.raises(BadInput, match="weights must be 1"):
        interestingness(IPD, AGENT, [COIN], [0.5, 0.5])


@pytest.mark.parametrize("odds", [{0: 0.5}, {0: 0.5, 2: 0.5}, {0: 1.5, 1: -0.5}])
def test_automaton_with_bad_odds_is_refused(odds):
    with pytest.raises(BadInput, match="sum to 1"):
        tabulate(Automaton(0, lambda q: odds, lambda q, a, b: 0), (0, 1), (0, 1))


def test_automaton_that_never_ends_is_refused():
    counting = Automaton(0, lambda q: {0: 1.0}, lambda q, own, their: q + 1)
    with pytest.raises(BadInput, match="states"):
        tabulate(counting, (0, 1), (0, 1))


def test_seats_across_the_table():
    assert other_seat(AGENT) == PARTNER
    lopsided = RepeatedGame(matrix=(((1, 5), (2, 6), (3, 7)), ((4, 8), (0, 0), (9, 9))))
    stubborn = Automaton(0, lambda q: {1: 1.0}, lambda q, own, their: 0)
    assert optimal_reward(lopsided, AGENT, stubborn, 2) == 4  # the partner always makes move 1
    assert optimal_reward(lopsided, PARTNER, stubborn, 2) == 18  # the agent always makes move 1


@pytest.mark.parametrize("name", ["rps", "ibs", "ipd"])
def test_cycle_search_and_linear_program_find_the_same_rate(name: str) -> None:
    game, same_count = registry.game(name).build({}), 0
    for partner in registry.partners("repeated_games").values():
        try:
            result = partner.automaton and partner.automaton(game, PARTNER)
        except BadInput:  # a partner of another game, or one that needs a table
            continue
        if result is not None:
            machine, pay = machine_of(game, AGENT, result), pay_table(game, AGENT)
            if len(machine.odds) <= 100:
                same_count += 1
                rate = optimal_rate(game, AGENT, result)
                assert rate == pytest.approx(rate_by_program(machine, pay), abs=1e-9), partner.name
    assert same_count > 5


def test_best_cycle_may_require_an_initial_loss() -> None:
    # from its start it can be led to either of two states for good: one pays 1, the other 3
    odds = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    array_after = np.array([[[1, 2], [0, 0]], [[1, 1], [0, 0]], [[0, 0], [2, 2]]])
    pay = np.array([[1.0, 0.0], [-5.0, 3.0]])  # (mine, theirs)
    machine = Machine(odds, array_after)
    assert rate_of_certain(machine, pay) == rate_by_program(machine, pay) == 3.0


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("machine", [GRIM, COIN])
def test_random_player_value_is_the_mean_over_all_sequences(rounds: int, machine) -> None:
    """Every sequence of moves of the random player, and of the machine with its odds."""
    pay = pay_table(IPD, AGENT)

    def worth(state, rounds_left: int) -> float:
        if not rounds_left:
            return 0.0
        return sum(
            p
            / 2
            * (
                pay[own_move, other_move]
                + worth(machine.after(state, other_move, own_move), rounds_left - 1)
            )
            for own_move in (0, 1)
            for other_move, p in machine.odds(state).items()
        )

    actual_random_reward = random_reward(IPD, AGENT, machine_of(IPD, AGENT, machine), rounds)
    assert actual_random_reward == pytest.approx(worth(machine.start, rounds))
