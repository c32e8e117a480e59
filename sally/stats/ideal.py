"""Ideal observer and Bayes-adaptive player against a declared pool of finite machines.

A partner is drawn from the pool with known weights and plays all rounds, each of which is seen. The
*ideal observer* forecasts its next move by Bayes' rule from the observed past. The *Bayes-adaptive
player* maximises the expected total over the rounds that are left, including the value of what its
moves reveal (Duff 2002).

Against deterministic machines, the recursion over the machines consistent with the past is exact.
Otherwise it is exact for `lookahead` rounds; after these, every machine is valued as if it were
known (QMDP, Littman et al. 1995), which is an upper bound of the value; `bound_gap` gives the
distance to a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sally.core.log.events import PlayerSpec
from sally.core.registry import registry

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
TIE = 1e-9
DIGITS = 12  # to which weights are compared
LOOKAHEAD = 4


class PoolMachine(NamedTuple):
    """A machine in the form of tables; state 0 is its initial state."""

    odds: Floats  # (state, its own move)
    next_states: Ints  # (state, its own move, the other's move) -> state


class Belief(NamedTuple):
    """The state in which each machine would be, and how likely each machine is."""

    states: tuple[int, ...]
    weights: tuple[float, ...]


class Ideal:
    """An ideal observer and a Bayes-adaptive player against a pool of machines.

    Args:
        pay: The player's payoffs in a round, as (mine, theirs).
        machines: The pool.
        weights: Prior weights; uniform by default.
        lookahead: Rounds of exact recursion if a machine moves by chance.
    """

    def __init__(
        self,
        pay: Floats,
        machines: Sequence[PoolMachine],
        weights: Sequence[float] | None = None,
        lookahead: int = LOOKAHEAD,
    ) -> None:
        if not machines:
            raise ValueError("A pool needs at least one machine.")
        prior_weights = [1.0] * len(machines) if weights is None else list(weights)
        if len(prior_weights) != len(machines) or min(prior_weights) <= 0:
            raise ValueError(
                f"A pool of {len(machines)} machines needs one weight above 0 for each."
            )
        self.pay, self.machines = pay, tuple(machines)
        self.prior = tuple(w / sum(prior_weights) for w in prior_weights)
        self.certain = all(bool(np.isin(m.odds, (0.0, 1.0)).all()) for m in machines)
        self.lookahead = lookahead
        self._known: dict[int, list[Floats]] = {}  # by machine, then rounds left
        self._memo: dict[tuple[Belief, int, int], Floats] = {}

    def start(self) -> Belief:
        """Return the belief before the first round."""
        return Belief((0,) * len(self.machines), self.prior)

    def forecast(self, belief: Belief) -> Floats:
        """Return the ideal observer's odds of the partner's next move."""
        rows = [m.odds[s] for m, s in zip(self.machines, belief.states, strict=True)]
        return np.asarray(np.array(belief.weights) @ np.array(rows))

    def update_belief(self, belief: Belief, own_move: int, other_move: int) -> Belief:
        """Return the belief after a round.

        A move that no machine of the pool would have made leaves the weights unchanged.
        """
        chances = [
            w * m.odds[s, other_move]
            for w, m, s in zip(belief.weights, self.machines, belief.states, strict=True)
        ]
        total = sum(chances)
        weights = belief.weights if total <= 0 else tuple(round(c / total, DIGITS) for c in chances)
        states = tuple(
            int(m.next_states[s, other_move, own_move]) if m.odds[s, other_move] > 0 else s
            for m, s in zip(self.machines, belief.states, strict=True)
        )
        # machines that are ruled out share one state, so that equal beliefs are found again
        known_states = tuple(s if w > 0 else 0 for s, w in zip(states, weights, strict=True))
        return Belief(known_states, weights)

    def value_if_known(self, place: int, rounds_left: int) -> Floats:
        """Return, by state, the highest expected total against a known machine."""
        m = self.machines[place]
        values = self._known.setdefault(place, [np.zeros(len(m.odds))])
        while len(values) <= rounds_left:
            value_after = np.einsum("qb,qba->qa", m.odds, values[-1][m.next_states])
            values.append((m.odds @ self.pay.T + value_after).max(axis=1))
        return values[rounds_left]

    def known_value(self, place: int, rounds_left: int) -> float:
        """Return the highest expected total against a known machine from its start."""
        return float(self.value_if_known(place, rounds_left)[0])

    def gain(self, belief: Belief, own_move: int, other_move: int) -> float:
        """Return the payoff of a round."""
        return float(self.pay[own_move, other_move])

    def informed_value(self, rounds_left: int) -> float:
        """Return the expected total of a player that knows the machine from the start."""
        return sum(w * self.known_value(n, rounds_left) for n, w in enumerate(self.prior))

    def worths(self, belief: Belief, rounds_left: int) -> Floats:
        """Return the expected total after each possible move, with Bayes-adaptive play
        afterwards."""
        return self._worths(belief, rounds_left, rounds_left if self.certain else self.lookahead)

    def value(self, belief: Belief, rounds_left: int) -> float:
        """Return the expected total of Bayes-adaptive play over the rounds that are left."""
        return float(self.worths(belief, rounds_left).max()) if rounds_left else 0.0

    def outcomes(self, belief: Belief, rounds_left: int) -> Floats:
        """Return the value of a round and of the play after it, as (mine, theirs)."""
        return self._outcomes(belief, rounds_left, rounds_left if self.certain else self.lookahead)

    def _worths(self, belief: Belief, rounds_left: int, depth: int) -> Floats:
        key = (belief, rounds_left, depth)
        if key not in self._memo:
            self._memo[key] = self._outcomes(belief, rounds_left, depth) @ self.forecast(belief)
        return self._memo[key]

    def _outcomes(self, belief: Belief, rounds_left: int, depth: int) -> Floats:
        table = self.pay.astype(float).copy()
        if rounds_left == 1:
            return table
        for own_move in range(table.shape[0]):
            for other_move in range(table.shape[1]):
                next_belief = self.update_belief(belief, own_move, other_move)
                table[own_move, other_move] += self._value(next_belief, rounds_left - 1, depth - 1)
        return table

    def _value(self, belief: Belief, rounds_left: int, depth: int) -> float:
        if rounds_left == 0:
            return 0.0
        if sum(w > 0 for w in belief.weights) == 1 or depth <= 0:
            return sum(
                w * float(self.value_if_known(n, rounds_left)[s])
                for n, (w, s) in enumerate(zip(belief.weights, belief.states, strict=True))
                if w > 0
            )
        return float(self._worths(belief, rounds_left, depth).max())

    def best(self, belief: Belief, rounds_left: int) -> list[int]:
        """Return the moves of the Bayes-adaptive player."""
        return best_moves(self, belief, rounds_left)

    def earns(self, rounds: int) -> float:
        """Return the player's exact expected total over the pool (`value` may be only an upper
        bound of it)."""
        return sum(
            w * self._expected_total(self.start(), n, 0, rounds, {})
            for n, w in enumerate(self.prior)
        )

    def _expected_total(
        self,
        belief: Belief,
        place: int,
        state: int,
        rounds_left: int,
        memo: dict[tuple[Belief, int, int], float],
    ) -> float:
        """Return the player's expected total against one machine, with ties split evenly."""
        if rounds_left == 0:
            return 0.0
        key = (belief, state, rounds_left)
        if key not in memo:
            machine, moves, total = self.machines[place], self.best(belief, rounds_left), 0.0
            for own_move in moves:
                for other_move in np.flatnonzero(machine.odds[state] > 0):
                    next_belief = self.update_belief(belief, own_move, int(other_move))
                    later = self._expected_total(
                        next_belief,
                        place,
                        int(machine.next_states[state, other_move, own_move]),
                        rounds_left - 1,
                        memo,
                    )
                    payoff = float(self.pay[own_move, other_move]) + later
                    total += float(machine.odds[state, other_move]) * payoff / len(moves)
            memo[key] = total
        return memo[key]

    def bound_gap(self, rounds: int) -> float:
        """Return the difference between the computed value, which may be an upper bound, and the
        exact expected total of the Bayes-adaptive player; 0 if the value is exact."""
        return self.value(self.start(), rounds) - self.earns(rounds)


class AdaptivePlay(Protocol):
    """Interface for splitting regret into parts: inference and play against a pool, as in `Ideal`.

    Moves are numbered from 0. `left` counts the rounds that are left.
    """

    def start(self) -> Any: ...

    def forecast(self, belief: Any) -> Floats: ...

    def update_belief(self, belief: Any, own_move: int, other_move: int) -> Any: ...

    def outcomes(self, belief: Any, rounds_left: int) -> Floats: ...

    def worths(self, belief: Any, rounds_left: int) -> Floats: ...

    def value(self, belief: Any, rounds_left: int) -> float: ...

    def gain(self, belief: Any, own_move: int, other_move: int) -> float: ...

    def known_value(self, place: int, rounds_left: int) -> float: ...

    def informed_value(self, rounds_left: int) -> float: ...


def best_moves(play: AdaptivePlay, belief: Any, rounds_left: int) -> list[int]:
    """Return the moves of the Bayes-adaptive player."""
    values = play.worths(belief, rounds_left)
    return [int(m) for m in np.flatnonzero(values >= values.max() - TIE)]


class IdealSplit(NamedTuple):
    """Regret of one whole episode, split into parts that add up to it."""

    regret: float  # best play against the known partner, less what was earned
    price: float  # of finding out: what even the Bayes-adaptive player gives up on average
    inference: float | None  # acting on the own prediction instead of the ideal forecast
    translation: float | None  # the move made, instead of the best reply to the own prediction
    moves: float  # inference and translation together: all that moves gave up
    luck: float  # the rest: which partner was drawn, and what it happened to do


class SeenRound(NamedTuple):
    """A played round; `predicted` are the odds that the player had stated, if any."""

    own_move: int
    other_move: int
    predicted: tuple[float, ...] | None


def stated_odds(
    odds: Sequence[float] | None, value: object, choices: Sequence[object]
) -> tuple[float, ...] | None:
    """Return the probability that a report gives to each choice. If it states no probabilities, its
    value gets probability 1; if that value is not among the choices, return None.

    >>> stated_odds(None, "b", ("a", "b"))
    (0.0, 1.0)
    """
    if odds is not None:
        return tuple(odds)
    return tuple(float(choice == value) for choice in choices) if value in choices else None


def pool_place(family: str, pool: Sequence[PlayerSpec], player: PlayerSpec | None) -> int | None:
    """Return the position of a player in a pool of partners of a game; None if it is not in the
    pool. Parameters that are not given have their defaults."""
    partners = registry.partners(family)

    def key(partner: PlayerSpec) -> tuple[str, dict[str, Any]]:
        defaults = partners[partner.player].params if partner.player in partners else {}
        return partner.player, {**defaults, **partner.params}

    keys = [key(partner) for partner in pool]
    return keys.index(key(player)) if player is not None and key(player) in keys else None


class IdealProblem(NamedTuple):
    """An episode against a partner of a declared pool, as one seat played it."""

    ideal: AdaptivePlay
    place: int  # of the partner in the pool
    rounds: tuple[SeenRound, ...]
    paid_once: bool = False  # whether the whole episode is paid, not each round
    about_reply: bool = False  # predictions are about the reply to the move already chosen


class ObserverProblem(NamedTuple):
    """An episode against a partner of a declared pool for which the ideal observer's forecasts are
    known, but not the value of Bayes-adaptive play."""

    forecasts: tuple[Floats, ...]  # the ideal observer's probabilities, one array for each round
    rounds: tuple[SeenRound, ...]  # the rounds in which the player predicted the partner's move
    earned: float  # in the whole episode


def split(ideal: AdaptivePlay, place: int, rounds: Sequence[SeenRound]) -> IdealSplit:
    """Return the parts of the regret against the machine with index `place` in the pool."""
    belief, rounds_left = ideal.start(), len(rounds)
    earned = inferred = translated = translation_loss = 0.0
    complete = bool(rounds)
    for seen_round in rounds:
        values = ideal.worths(belief, rounds_left)
        given_up = float(values.max() - values[seen_round.own_move])
        translation_loss += given_up
        if seen_round.predicted is None:
            complete = False
        else:
            expected = ideal.outcomes(belief, rounds_left) @ np.array(seen_round.predicted)
            replies = np.flatnonzero(expected >= expected.max() - TIE)
            chosen = [seen_round.own_move] if seen_round.own_move in replies else replies
            missed = float(values.max() - np.mean([values[m] for m in chosen]))
            inferred += missed
            translated += given_up - missed
        earned += ideal.gain(belief, seen_round.own_move, seen_round.other_move)
        belief, rounds_left = (
            ideal.update_belief(belief, seen_round.own_move, seen_round.other_move),
            rounds_left - 1,
        )
    n_rounds = len(rounds)
    regret = ideal.known_value(place, n_rounds) - earned
    price = ideal.informed_value(n_rounds) - ideal.value(ideal.start(), n_rounds)
    return IdealSplit(
        regret,
        price,
        inferred if complete else None,
        translated if complete else None,
        translation_loss,
        regret - price - translation_loss,
    )


def forecasts(ideal: AdaptivePlay, rounds: Sequence[SeenRound]) -> list[tuple[Floats, float]]:
    """Return the ideal observer's odds before each round, and what the round paid."""
    belief, odds_and_payoffs = ideal.start(), []
    for seen_round in rounds:
        paid = ideal.gain(belief, seen_round.own_move, seen_round.other_move)
        odds_and_payoffs.append((ideal.forecast(belief), paid))
        belief = ideal.update_belief(belief, seen_round.own_move, seen_round.other_move)
    return odds_and_payoffs
