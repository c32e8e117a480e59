"""Fictitious play and Q-learning, for comparison with the tabular learner."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.match.partner import by_name
from sally.core.match.player import Decision, NoAnswer, PlayerKind, Turn
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.players.tabular import PayTable, count_report, pay_of
from sally.games.repeated_games.rules import Joint, View

SAME = 1e-9  # payoffs closer than this are tied


def tied_moves(values: tuple[float, ...]) -> tuple[int, ...]:
    """Return the moves with the highest value."""
    best = max(values)
    return tuple(move for move, value in enumerate(values) if value >= best - SAME)


# --- fictitious play ----------------------------------------------------------------------------


class MoveCounts(msgspec.Struct, frozen=True):
    """The count of each move of the other seat."""

    seen: int  # rounds looked at, void ones included
    counts: tuple[int, ...]


class Fictitious(msgspec.Struct, frozen=True):
    """A player that best-responds to the other seat's past move frequencies (Brown 1951)."""

    pay: PayTable

    def decide(self, turn: Turn[int, View]) -> Decision[int]:
        tally = self.count_rounds(turn.memory, turn.view)
        belief = [n + 1 for n in tally.counts]  # one of each to begin with
        move_values = tuple(
            sum(n * p for n, p in zip(belief, row, strict=True)) / sum(belief) for row in self.pay
        )
        return Decision(turn.draws.pick(tied_moves(move_values)), tally)

    def report(self, turn: Turn[int, View]) -> ProbeReport | NoAnswer:
        tally = self.count_rounds(turn.memory, turn.view)
        return count_report(turn.question, turn.seat, tally.counts)

    def count_rounds(self, memory: MoveCounts | None, view: View) -> MoveCounts:
        """Return the memory updated with the rounds since the last update; void rounds are
        skipped."""
        tally = memory or MoveCounts(0, (0,) * len(self.pay[0]))
        counts, rounds_seen = list(tally.counts), tally.seen
        for joint in view.rounds(rounds_seen):
            rounds_seen += 1
            if joint is not None:
                counts[joint[1]] += 1
        return MoveCounts(rounds_seen, tuple(counts))


# --- one-step Q-learning ------------------------------------------------------------------------


class Values(msgspec.Struct, frozen=True):
    """A learned table of values, with the counts on which predictions are based."""

    seen: int
    state: int
    worth: tuple[tuple[float, ...], ...]  # by state and move
    counts: tuple[tuple[int, ...], ...]  # the other's moves by state


class QLearning(msgspec.Struct, frozen=True):
    """One-step Q-learning over the last joint action (Watkins 1989).

    With `optimistic`, the initial values assume the best payoff forever; otherwise they are 0.
    """

    pay: PayTable
    rate: float = 0.5
    gamma: float = 0.95
    epsilon: float = 0.0  # chance of a random move
    optimistic: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise BadInput(f"rate must be above 0 and at most 1, not {self.rate}")
        if not 0 <= self.gamma < 1:
            raise BadInput(f"gamma must be at least 0 and below 1, not {self.gamma}")
        if not 0 <= self.epsilon <= 1:
            raise BadInput(f"epsilon must be from 0 to 1, not {self.epsilon}")

    def decide(self, turn: Turn[int, View]) -> Decision[int]:
        values, draws = self.learn(turn.memory, turn.view), turn.draws
        explores = self.epsilon > 0 and draws() < self.epsilon
        moves = turn.options if explores else tied_moves(values.worth[values.state])
        picked = draws.pick(moves)
        assert isinstance(picked, int)  # repeated games have no forms
        return Decision(picked, values)

    def report(self, turn: Turn[int, View]) -> ProbeReport | NoAnswer:
        values = self.learn(turn.memory, turn.view)
        return count_report(turn.question, turn.seat, values.counts[values.state])

    def learn(self, memory: Values | None, view: View) -> Values:
        """Return the memory updated with the rounds since the last update, before this turn's
        move."""
        values = memory or self.untaught()
        for joint in view.rounds(values.seen):
            values = self.taught(values, joint)
        return values

    def untaught(self) -> Values:
        height, width = len(self.pay), len(self.pay[0])
        best = max(max(row) for row in self.pay)
        first = best / (1 - self.gamma) if self.optimistic else 0.0
        states = height * width + 1
        return Values(0, 0, ((first,) * height,) * states, ((0,) * width,) * states)

    def taught(self, values: Values, joint: Joint | None) -> Values:
        """Return the values after one more round; a void round changes nothing."""
        if joint is None:
            return msgspec.structs.replace(values, seen=values.seen + 1)
        (own_move, other_move), state = joint, values.state
        next_state = 1 + own_move * len(self.pay[0]) + other_move
        target = self.pay[own_move][other_move] + self.gamma * max(values.worth[next_state])
        old = values.worth[state][own_move]
        state_values = _with(values.worth[state], own_move, old + self.rate * (target - old))
        counts = _with(values.counts[state], other_move, values.counts[state][other_move] + 1)
        return Values(
            values.seen + 1,
            next_state,
            _with(values.worth, state, state_values),
            _with(values.counts, state, counts),
        )


def _with(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1 :])


# --- on the shelf -------------------------------------------------------------------------------


def _fictitious(spec: GameSpec, game: Game, seat: Seat) -> Fictitious:
    return Fictitious(pay_of("fictitious_learner", game, seat))


def _q_learning(spec: GameSpec, game: Game, seat: Seat, **settings: Any) -> QLearning:
    return QLearning(pay_of("q_learning", game, seat), **settings)


PLAYERS = by_name(
    PlayerKind(
        "fictitious_learner",
        "replies best to the other's moves so far, and predicts the most frequent",
        _fictitious,
    ),
    PlayerKind(
        "q_learning",
        "one-step Q-learning over the last joint action, predicting by frequency counts",
        _q_learning,
        {"rate": 0.5, "gamma": 0.95, "epsilon": 0.0, "optimistic": True},
    ),
)
