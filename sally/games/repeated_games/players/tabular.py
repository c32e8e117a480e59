"""The tabular learner of riemer2025: R-MAX for acting, frequency counts for predicting.

R-MAX (Brafman and Tennenholtz 2002), with settings inferred from the results of riemer2025: a
state-move pair is known after one visit, an unknown pair is valued as if it paid the best payoff
forever, and the values are solved exactly. The state is the last joint action, with a separate
state before round 1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.core.match.player import Decision, NoAnswer, PlayerKind, Turn
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport, Question
from sally.games.repeated_games.optimum import Floats, pay_table
from sally.games.repeated_games.rules import RepeatedGame, View, other_seat

Counts = NDArray[np.int32]
Mask = NDArray[np.bool_]

TIE = 1e-9  # relative to the largest value there can be; solved values are good to 1e-13


class Settings(msgspec.Struct, frozen=True):
    """Planning settings of an optimistic learner; the defaults reproduce the published table."""

    gamma: float = 0.95  # anything in [0.75, 1) gives the published figures
    visits: int = 1  # number of visits after which a pair is known and its model fixed
    ties: str = "random"  # or "first"
    own_start: bool = True  # whether round 1 has a separate state, or shares that of (0, 0)

    def __post_init__(self) -> None:
        if not 0 <= self.gamma < 1:
            raise BadInput(f"gamma must be at least 0 and below 1, not {self.gamma}")
        if self.visits < 1:
            raise BadInput(f"visits must be at least 1, not {self.visits}")
        if self.ties not in ("random", "first"):
            raise BadInput(f"ties must be 'random' or 'first', not {self.ties!r}")


def states(pay: Floats, settings: Settings) -> int:
    """Return the number of states: one for each joint action, plus the start."""
    return pay.size + settings.own_start


def state_after(own_move: int, other_move: int, width: int, settings: Settings) -> int:
    """Return the state that a joint action leads to; `width` is the number of the other's moves."""
    return own_move * width + other_move + settings.own_start


def empty_model(pay: Floats, settings: Settings) -> Counts:
    """Return a model without visits, indexed by (state, own move, other's move)."""
    return np.zeros((states(pay, settings), *pay.shape), dtype=np.int32)


def tied_moves(models: Counts, pay: Floats, settings: Settings) -> Mask:
    """Return whether each move is greedy, as (model, state, move), for a stack of models."""
    move_values = values(models, pay, settings)
    slack = TIE * max(float(np.abs(pay).max()), 1.0) / (1 - settings.gamma)
    return np.asarray(move_values >= move_values.max(axis=2, keepdims=True) - slack)


def values(models: Counts, pay: Floats, settings: Settings) -> Floats:
    """Return the optimistic value of each move, as (model, state, move), for a stack of models.

    The method is policy iteration; its linear systems are solved one model at a time, so that a
    model's values do not depend on the rest of the stack, not even in the last bit.
    """
    is_known, chances = _known_and_chances(models, settings)
    top = float(pay.max()) / (1 - settings.gamma)
    slack = TIE * max(float(np.abs(pay).max()), 1.0) / (1 - settings.gamma)
    ahead = np.full(models.shape[:2], top)
    move_values = _backed_up(is_known, chances, ahead, pay, settings)
    policy = move_values.argmax(axis=2)
    while True:
        ahead = _evaluate_policy(is_known, chances, policy, pay, settings)
        move_values = _backed_up(is_known, chances, ahead, pay, settings)
        policy_values = np.take_along_axis(move_values, policy[:, :, None], axis=2)[:, :, 0]
        better = move_values.max(axis=2) > policy_values + slack
        if not better.any():
            return move_values
        policy = np.where(better, move_values.argmax(axis=2), policy)


def _known_and_chances(models: Counts, settings: Settings) -> tuple[Mask, Floats]:
    visits = models.sum(axis=3)
    return visits >= settings.visits, models / np.maximum(visits, 1)[..., None]


def _next_states(pay: Floats, settings: Settings) -> NDArray[np.intp]:
    """Return the state that each joint action leads to, indexed by (own move, other's move)."""
    return np.arange(pay.size).reshape(pay.shape) + int(settings.own_start)


def _backed_up(
    is_known: Mask, chances: Floats, ahead: Floats, pay: Floats, settings: Settings
) -> Floats:
    """Return the one-step look-ahead values, given the values `ahead` of the states."""
    to = _next_states(pay, settings)
    move_values = np.zeros(is_known.shape)
    for other_move in range(pay.shape[1]):  # a loop, so that the order of additions is fixed
        gain = pay[:, other_move] + settings.gamma * ahead[:, to[:, other_move]]
        move_values += chances[..., other_move] * gain[:, None, :]
    return np.where(is_known, move_values, float(pay.max()) / (1 - settings.gamma))


def _evaluate_policy(
    is_known: Mask, chances: Floats, policy: NDArray[np.intp], pay: Floats, settings: Settings
) -> Floats:
    """Return the value of each state if `policy` is followed forever."""
    n, size = policy.shape
    to = _next_states(pay, settings)
    model_index, state = np.arange(n)[:, None], np.arange(size)[None, :]
    knows = is_known[model_index, state, policy]
    system = np.tile(np.eye(size), (n, 1, 1))
    right = np.where(knows, 0.0, float(pay.max()) / (1 - settings.gamma))
    for other_move in range(pay.shape[1]):
        p = np.where(knows, chances[model_index, state, policy, other_move], 0.0)
        system[model_index, state, to[policy, other_move]] -= settings.gamma * p
        right += p * pay[policy, other_move]
    return np.asarray(np.linalg.solve(system, right[..., None])[..., 0])


# --- the player ----------------------------------------------------------------------------------

PayTable = tuple[tuple[float, ...], ...]  # (mine, theirs) -> my reward


class Learned(msgspec.Struct, frozen=True):
    """The tabular learner's memory between turns."""

    seen: int  # rounds looked at, void ones included
    state: int
    model: tuple[int, ...]  # visits by (state, my move, their move), fixed once a pair is known
    counts: tuple[int, ...]  # their moves by state, in all rounds


class Tabular(msgspec.Struct, frozen=True):
    """A player that explores unknown moves, then plays the best ones; it predicts by frequency."""

    pay: PayTable
    settings: Settings = Settings()

    def decide(self, turn: Turn[int, View]) -> Decision[int]:
        learned = self.learn(turn.memory, turn.view)
        tied = greedy(learned.model, self.pay, self.settings)[learned.state]
        if len(tied) == 1 or self.settings.ties == "first":
            return Decision(tied[0], learned)
        return Decision(turn.draws.pick(tied), learned)

    def report(self, turn: Turn[int, View]) -> ProbeReport | NoAnswer:
        learned, width = self.learn(turn.memory, turn.view), len(self.pay[0])
        state_counts = learned.counts[learned.state * width : (learned.state + 1) * width]
        return count_report(turn.question, turn.seat, state_counts)

    def learn(self, memory: Learned | None, view: View) -> Learned:
        """Return the memory updated with the rounds since the last update, before this turn's
        move."""
        memory_now = self.untaught() if memory is None else memory
        for joint in view.rounds(memory_now.seen):
            memory_now = self.taught(memory_now, joint)
        return memory_now

    def untaught(self) -> Learned:
        pay = np.array(self.pay)
        size = states(pay, self.settings)
        return Learned(0, 0, (0,) * (size * pay.size), (0,) * (size * pay.shape[1]))

    def taught(self, memory_now: Learned, joint: tuple[int, int] | None) -> Learned:
        """Return the model after one more round; a void round changes nothing."""
        if joint is None:
            return msgspec.structs.replace(memory_now, seen=memory_now.seen + 1)
        own_move, other_move = joint
        width, height = len(self.pay[0]), len(self.pay)
        pair = (memory_now.state * height + own_move) * width
        visits = sum(memory_now.model[pair : pair + width])
        model = memory_now.model
        if visits < self.settings.visits:
            model = _one_more(model, pair + other_move)
        counts = _one_more(memory_now.counts, memory_now.state * width + other_move)
        next_state = state_after(own_move, other_move, width, self.settings)
        return Learned(memory_now.seen + 1, next_state, model, counts)


def _one_more(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*counts[:index], counts[index] + 1, *counts[index + 1 :])


@lru_cache(maxsize=16_384)
def greedy(
    model: tuple[int, ...], pay: PayTable, settings: Settings
) -> tuple[tuple[int, ...], ...]:
    """Return, by state, the moves from which the learner draws."""
    table = np.array(pay)
    shape = (1, states(table, settings), *table.shape)
    tied = tied_moves(np.array(model, dtype=np.int32).reshape(shape), table, settings)[0]
    return tuple(tuple(int(move) for move in np.flatnonzero(row)) for row in tied)


def count_report(
    question: Question | None, seat: Seat, counts: tuple[int, ...]
) -> ProbeReport | NoAnswer:
    """Return a report of the other seat's most frequent move (the first in a tie), with
    probabilities.

    The probabilities follow the rule of succession, (count + 1) / (total + moves). Without any
    counts they are uniform, and the prediction is move 0.
    """
    assert question is not None  # a report is asked for with a question only
    if question.about != other_seat(seat) or question.choices != tuple(range(len(counts))):
        return NoAnswer("the learner only counts the other's moves")
    total = sum(counts) + len(counts)
    return ProbeReport(counts.index(max(counts)), tuple((n + 1) / total for n in counts))


def pay_of(name: str, game: Game, seat: Seat) -> PayTable:
    """Return a seat's payoff table.

    Raises: BadInput if the game is not a repeated game.
    """
    if not isinstance(game, RepeatedGame):
        raise BadInput(f"{name} plays repeated games only, not {type(game).__name__}.")
    return tuple(map(tuple, pay_table(game, seat).tolist()))


def _tabular(spec: GameSpec, game: Game, seat: Seat, **settings: Any) -> Tabular:
    try:
        chosen = msgspec.convert(settings, Settings)
    except msgspec.ValidationError as error:
        raise BadInput(str(error).replace("`", "").replace("$.", "")) from None
    return Tabular(pay_of("tabular", game, seat), chosen)


PLAYERS = {
    "tabular": PlayerKind(
        "tabular",
        "R-MAX over the last joint action, predicting by frequency counts (riemer2025)",
        _tabular,
        msgspec.structs.asdict(Settings()),
    ),
}
