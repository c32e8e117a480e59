"""Exact optimal play against a partner that is a finite automaton.

A player that knows the automaton and sees every round always knows its state, so the best reply
over a horizon is a dynamic program over (rounds left, automaton state).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.core.match.partner import Automaton
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import RepeatedGame, other_seat
from sally.stats.ideal import PoolMachine

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Machine = PoolMachine  # an automaton as arrays, in which every state is reachable

MOST_STATES = 20_000  # with more, the tables no longer fit into a laptop's memory
MOST_ROUND = 500  # up to this many states cycles are searched; beyond, a linear program is faster
SAME = 1e-9  # two values closer than this (relative to the payoffs) are tied


@dataclass(frozen=True)
class Plan:
    """Optimal play for every number of rounds left."""

    machine: Machine
    values: Floats  # (rounds left, state): the expected reward still to come
    best: NDArray[np.bool_]  # (rounds left - 1, state, move): whether the move is optimal

    @property
    def rounds(self) -> int:
        return len(self.best)

    @cached_property
    def policy(self) -> Floats:
        """The uniform distribution over the optimal moves, indexed by (rounds left - 1, state,
        move).
        """
        return np.asarray(self.best / self.best.sum(axis=2, keepdims=True))


def tabulate(
    automaton: Automaton[Any], own_moves: Sequence[int], other_moves: Sequence[int]
) -> Machine:
    """Return the automaton's reachable states as arrays, indexed by its own and the other seat's
    moves."""
    number = {automaton.start: 0}
    waiting = [automaton.start]
    odds, transitions = [], []
    for state in waiting:  # grows while it is read
        chances = _checked_odds(automaton, state, own_moves)
        odds.append(chances)
        rows = []
        for own_move in own_moves:
            if not chances[own_move]:
                rows.append([0] * len(other_moves))  # never looked up
                continue
            next_states = [automaton.after(state, own_move, their) for their in other_moves]
            for new in next_states:
                if new not in number:
                    number[new] = len(number)
                    waiting.append(new)
            rows.append([number[new] for new in next_states])
        transitions.append(rows)
        if len(number) > MOST_STATES:
            raise BadInput(f"The automaton has more than {MOST_STATES} states; it is too large.")
    return Machine(np.array(odds), np.array(transitions, dtype=np.intp))


def _checked_odds(automaton: Automaton[Any], state: Any, own_moves: Sequence[int]) -> list[float]:
    odds = automaton.odds(state)
    chances = [float(odds.get(move, 0.0)) for move in own_moves]
    if (
        any(move not in own_moves for move in odds)
        or min(chances) < 0
        or abs(sum(chances) - 1) > 1e-9
    ):
        raise BadInput(
            f"In state {state!r} the automaton plays {dict(odds)!r}; it must give "
            f"the moves {list(own_moves)} probabilities that sum to 1."
        )
    return chances


def machine_of(game: RepeatedGame, seat: Seat, automaton: Automaton[Any]) -> Machine:
    """Return the arrays of an automaton that plays opposite `seat`."""
    return tabulate(automaton, game.moves_of(other_seat(seat)), game.moves_of(seat))


def pay_table(game: RepeatedGame, seat: Seat) -> Floats:
    """Return the payoffs of `seat` in one round, indexed by (own move, other's move)."""
    other_moves = game.moves_of(other_seat(seat))
    return np.array(
        [[game.pay(seat, m, t) for t in other_moves] for m in game.moves_of(seat)], float
    )


def plan(game: RepeatedGame, seat: Seat, machine: Machine, rounds: int) -> Plan:
    """Return optimal play over at most `rounds` rounds, given the probability that the game
    stops after each round."""
    if rounds < 0:
        raise BadInput(f"rounds must be at least 0, not {rounds}")
    pay = pay_table(game, seat)
    now = machine.odds @ pay.T  # (state, move): expected reward of this round
    tie = SAME * max(1.0, float(np.abs(pay).max()))
    values = np.zeros((rounds + 1, len(now)))
    best = np.zeros((rounds, *now.shape), dtype=bool)
    for rounds_left in range(1, rounds + 1):
        value_after = np.einsum(
            "qb,qba->qa", machine.odds, values[rounds_left - 1][machine.next_states]
        )
        values_now = now + (1 - game.stop_chance) * value_after
        values[rounds_left] = values_now.max(axis=1)
        best[rounds_left - 1] = values_now >= values[rounds_left][:, None] - tie
    return Plan(machine, values, best)


def optimal_reward(
    game: RepeatedGame, seat: Seat, automaton: Automaton[Any], rounds: int | None = None
) -> float:
    """Return the largest total reward that `seat` can expect against this partner."""
    machine = machine_of(game, seat, automaton)
    length = game.rounds if rounds is None else rounds
    return float(plan(game, seat, machine, length).values[length, 0])


def random_reward(game: RepeatedGame, seat: Seat, machine: Machine, rounds: int) -> float:
    """Return the expected total reward of `seat` over a fixed number of rounds if it moves
    uniformly at random."""
    by_state = (machine.odds @ pay_table(game, seat).T).mean(axis=1)
    n_moves = machine.next_states.shape[2]
    reach = np.zeros((len(machine.odds),) * 2)  # chance of one state after another
    for state, odds in enumerate(machine.odds):
        for other_move, p in enumerate(odds):
            np.add.at(reach[state], machine.next_states[state, other_move], p / n_moves)
    state_odds, total = np.eye(1, len(reach))[0], 0.0
    for _ in range(rounds):
        total += float(state_odds @ by_state)
        state_odds = state_odds @ reach
    return total


def optimal_course(
    game: RepeatedGame, seat: Seat, machine: Machine, played: int, horizon: int | None = None
) -> Floats:
    """Return the expected total of optimal play after 1, 2, ..., `played` rounds.

    With a fixed end, entry n is the optimum of exactly n rounds. If the game stops by chance, its
    length cannot be planned for; entry n is then the expected total reward up to round n of the
    policy that is optimal for `horizon` rounds with that stopping probability, so that the mean
    over episodes is the true optimum.
    """
    if not game.stop_chance:
        return plan(game, seat, machine, played).values[1:, 0].copy()
    planned = plan(game, seat, machine, max(played, horizon or game.rounds))
    return np.cumsum(course_of(planned, pay_table(game, seat), machine)[:played])


def course_of(planned: Plan, pay: Floats, against: Machine) -> Floats:
    """Return the expected reward, round by round, of a plan made for one partner but used against
    another.

    The player tracks the machine for which the plan was made: that machine is updated with the
    actual moves, and keeps its state after a move that it would never make.
    """
    believed, policy = planned.machine, planned.policy
    joint_odds = np.zeros((len(believed.odds), len(against.odds)))  # joint distribution of the two
    joint_odds[0, 0] = 1.0
    rewards = np.zeros(planned.rounds)
    follow = transitions_of(believed)
    for n in range(planned.rounds):
        moves = policy[planned.rounds - n - 1]
        reached = np.zeros_like(joint_odds)
        for believes, is_in in zip(*np.nonzero(joint_odds), strict=True):
            for own_move in np.flatnonzero(moves[believes]):
                for other_move in np.flatnonzero(against.odds[is_in]):
                    p = (
                        joint_odds[believes, is_in]
                        * moves[believes, own_move]
                        * against.odds[is_in, other_move]
                    )
                    rewards[n] += p * pay[own_move, other_move]
                    next_state = (
                        follow[believes, other_move, own_move],
                        against.next_states[is_in, other_move, own_move],
                    )
                    reached[next_state] += p
        joint_odds = reached
    return rewards


def transitions_of(machine: Machine) -> Ints:
    """Return the machine's transitions; a move that the machine would never make leaves its
    state unchanged."""
    stays = np.arange(len(machine.odds))[:, None, None]
    return np.where((machine.odds > 0)[:, :, None], machine.next_states, stays)


def optimal_rate(game: RepeatedGame, seat: Seat, automaton: Automaton[Any]) -> float:
    """Return the largest long-run reward per round against this partner, from its start state."""
    machine, pay = machine_of(game, seat, automaton), pay_table(game, seat)
    if len(machine.odds) == 1:
        return float((machine.odds @ pay.T).max()) + 0.0  # never minus zero
    certain = bool(((machine.odds == 0) | (machine.odds == 1)).all())
    if certain and len(machine.odds) <= MOST_ROUND:
        return rate_of_certain(machine, pay)
    return rate_by_program(machine, pay)


def rate_of_certain(machine: Machine, pay: Floats) -> float:
    """Return the optimal rate against a deterministic automaton, that is, the mean reward of the
    best cycle of states.

    This is the largest cycle mean reachable from the start state, by Karp's theorem (1978).
    """
    states = np.arange(len(machine.odds))
    move = machine.odds.argmax(axis=1)
    to, payoffs = machine.next_states[states, move], pay.T[move]  # (state, the other's move)
    n = len(states)
    best = np.full((n + 1, n), -np.inf)  # (steps, state): the most that a walk there can get
    best[0, 0] = 0.0
    for k in range(n):
        np.maximum.at(best[k + 1], to.ravel(), (best[k][:, None] + payoffs).ravel())
    is_reachable = np.isfinite(best[n])
    gaps = (best[n, is_reachable] - best[:n, is_reachable]) / (n - states)[:, None]
    return float(gaps.min(axis=0).max()) + 0.0  # never minus zero


def rate_by_program(machine: Machine, pay: Floats) -> float:
    """Return the optimal rate against any automaton.

    The function solves the linear program of the average-reward criterion for multichain processes
    (Puterman 1994, 9.3): minimise the sum of gains g subject to g >= P g and g + h >= r + P h for
    every state and move.
    """
    from scipy.optimize import linprog  # here: a worker that only plays starts in half the time
    from scipy.sparse import coo_array, hstack, vstack

    states, moves = len(machine.odds), len(pay)
    now = machine.odds @ pay.T
    q, b, a = (index.ravel() for index in np.indices(machine.next_states.shape))
    row = q * moves + a
    to = coo_array(
        (machine.odds[q, b], (row, machine.next_states[q, b, a])), (states * moves, states)
    )
    pairs = np.arange(states * moves)
    stay = coo_array((np.ones(states * moves), (pairs, pairs // moves)), to.shape)
    leaves = to - stay
    none = coo_array(to.shape)
    bounds = vstack([hstack([leaves, none]), hstack([-stay, leaves])]).tocsr()
    right = np.concatenate([np.zeros(states * moves), -now.ravel()])
    cost = np.concatenate([np.ones(states), np.zeros(states)])
    solved = linprog(cost, A_ub=bounds, b_ub=right, bounds=(None, None), method="highs")
    if solved.x is None or not solved.success:
        raise BadInput(f"The long-run optimum could not be found: {solved.message}")
    return float(solved.x[0]) + 0.0  # never minus zero


def interestingness(
    game: RepeatedGame,
    seat: Seat,
    partners: Sequence[Automaton[Any]],
    weights: Sequence[float] | None = None,
) -> float:
    """Return the expected regret per round of a player that plays optimally against one partner but
    meets another.

    The two partners are drawn independently, with these weights (uniform by default).
    """
    if not partners:
        raise BadInput("A task needs at least one partner.")
    partner_weights = (
        np.ones(len(partners)) if weights is None else np.asarray(weights, dtype=float)
    )
    if (
        len(partner_weights) != len(partners)
        or partner_weights.min() < 0
        or partner_weights.sum() <= 0
    ):
        raise BadInput(f"weights must be {len(partners)} numbers of at least 0, not all 0.")
    pay = pay_table(game, seat)
    machines = [machine_of(game, seat, partner) for partner in partners]
    plans = [plan(game, seat, machine, game.rounds) for machine in machines]
    going = (1 - game.stop_chance) ** np.arange(game.rounds)  # chance that round n is reached
    regret = [
        plans[j].values[-1, 0] - float(course_of(planned, pay, against) @ going)
        for planned in plans
        for j, against in enumerate(machines)
    ]
    pairs = np.outer(partner_weights, partner_weights).ravel()
    return float(pairs @ np.array(regret) / pairs.sum() / going.sum())
