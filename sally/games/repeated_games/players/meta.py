"""A pre-trained learner: a small recurrent net that adapts within an episode.

The net reads the payoffs and each round, and outputs its move and its prediction; its weights do
not change during play. It was trained with `examples/training/learner.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput, unknown
from sally.core.match.player import Decision, NoAnswer, PlayerKind, Turn
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.optimum import pay_table
from sally.games.repeated_games.rules import RepeatedGame, View, other_seat

Floats = NDArray[np.float32]
MOST = 3  # moves of a seat
FAR = 20  # rounds: a more distant end counts as this far away
INPUT = 2 * MOST * MOST + 2 * MOST + 2
NAMES = ("ladder",)  # weights that ship


def payoffs(game: RepeatedGame, seat: Seat) -> list[float]:
    """Return both seats' payoffs by (own move, other's move), scaled to 0..1; -1 for moves that do
    not exist."""
    scaled = []
    for paid in (pay_table(game, seat), pay_table(game, other_seat(seat)).T):
        table = np.full((MOST, MOST), -1.0)
        span = float(np.ptp(paid)) or 1.0
        table[: paid.shape[0], : paid.shape[1]] = (paid - paid.min()) / span
        scaled += table.ravel().tolist()
    return scaled


def input_row(pays: list[float], last: tuple[int, int] | None, rounds_left: int) -> Floats:
    """Return the net's input before a round: payoffs, the last round (one-hot), and the rounds
    left."""
    row = np.zeros(INPUT, np.float32)
    row[: len(pays)] = pays
    offset = len(pays)
    if last is not None:
        row[offset + last[0]] = row[offset + MOST + last[1]] = 1.0
    row[-2] = float(last is None)
    row[-1] = min(rounds_left, FAR) / FAR
    return row


class Net(msgspec.Struct, frozen=True, eq=False):
    """A gated recurrent unit (Cho et al. 2014) with two output heads."""

    x: Floats  # (input, 3 x hidden): update, reset, new
    h: Floats
    b: Floats
    move: Floats  # (hidden + 1, moves)
    foresee: Floats

    @property
    def size(self) -> int:
        return len(self.h)

    def step(self, hidden: Floats, row: Floats) -> Floats:
        """Return the hidden state after one more input row."""
        n = self.size
        input_part, hidden_part = row @ self.x + self.b, hidden @ self.h
        update = _sigmoid(input_part[:n] + hidden_part[:n])
        reset = _sigmoid(input_part[n : 2 * n] + hidden_part[n : 2 * n])
        new = np.tanh(input_part[2 * n :] + reset * hidden_part[2 * n :])
        new_hidden: Floats = ((1 - update) * new + update * hidden).astype(np.float32)
        return new_hidden

    def odds(self, head: Floats, hidden: Floats, moves: int) -> list[float]:
        """Return the probabilities of moves 0 to `moves - 1`, given the hidden state."""
        scores = (hidden @ head[:-1] + head[-1])[:moves].astype(float)
        weights = np.exp(scores - scores.max())
        probabilities: list[float] = (weights / weights.sum()).tolist()
        return probabilities


def _sigmoid(x: Floats) -> Floats:
    values: Floats = (1 / (1 + np.exp(-x))).astype(np.float32)
    return values


class LearnerMemory(msgspec.Struct, frozen=True, eq=False):
    """The learner's memory between turns."""

    rounds: int  # looked at, void ones included
    turn: int  # rounds that were played
    hidden: Floats  # after reading everything before the coming round


class Learner(msgspec.Struct, frozen=True, eq=False):
    """A player with a net of fixed weights; its knowledge of a partner is in the hidden state."""

    net: Net
    pays: list[float]
    own_count: int
    other_count: int
    horizon: int

    def decide(self, turn: Turn[int, View]) -> Decision[int]:
        adapted = self.adapt(turn.memory, turn.view)
        odds = self.net.odds(self.net.move, adapted.hidden, self.own_count)
        return Decision(turn.draws.draw(dict(enumerate(odds))), adapted)

    def report(self, turn: Turn[int, View]) -> ProbeReport | NoAnswer:
        question = turn.question
        assert question is not None  # a report is asked for with a question only
        if question.about != other_seat(turn.seat) or len(question.choices) != self.other_count:
            return NoAnswer("the learner only foresees the other's moves")
        adapted = self.adapt(turn.memory, turn.view)
        odds = self.net.odds(self.net.foresee, adapted.hidden, self.other_count)
        total = sum(odds)
        return ProbeReport(odds.index(max(odds)), tuple(p / total for p in odds))

    def adapt(self, memory: LearnerMemory | None, view: View) -> LearnerMemory:
        """Return the state before this round's move; void rounds are skipped."""
        if memory is None:
            nothing = np.zeros(self.net.size, np.float32)
            memory = LearnerMemory(
                0, 0, self.net.step(nothing, input_row(self.pays, None, self.horizon))
            )
        hidden, round_index, turn = memory.hidden, memory.rounds, memory.turn
        for joint in view.rounds(round_index):
            round_index += 1
            if joint is not None:
                turn += 1
                hidden = self.net.step(
                    hidden, input_row(self.pays, joint, self.horizon - round_index)
                )
        return LearnerMemory(round_index, turn, hidden)


@lru_cache(maxsize=4)
def net(name: str) -> Net:
    """Return the shipped weights with this name."""
    if name not in NAMES:
        raise unknown("set of weights of the player learner", name, NAMES)
    with files(__package__).joinpath(f"{name}.npz").open("rb") as file:
        arrays = np.load(file)
        return Net(**{key: arrays[key].astype(np.float32) for key in Net.__struct_fields__})


def record(name: str) -> Mapping[str, Any]:
    """Return the training record of the weights with this name: seed, steps, learning curve, and
    the net's outputs in one game."""
    training_record: Mapping[str, Any] = json.loads(
        files(__package__).joinpath(f"{name}.json").read_text()
    )
    return training_record


def _learner(spec: GameSpec, game: Game, seat: Seat, weights: str = "ladder") -> Learner:
    if not isinstance(game, RepeatedGame):
        raise BadInput(f"learner plays repeated games only, not {type(game).__name__}.")
    n_own, n_other = len(game.moves_of(seat)), len(game.moves_of(other_seat(seat)))
    if max(n_own, n_other) > MOST:
        raise BadInput(
            f"learner plays games of at most {MOST} moves per seat, not {n_own} by {n_other}"
        )
    return Learner(net(weights), payoffs(game, seat), n_own, n_other, game.rounds)


PLAYERS = {
    "learner": PlayerKind(
        "learner",
        "a recurrent net trained on a ladder of partners, which adapts within an episode "
        "(`weights`: ladder)",
        _learner,
        {"weights": "ladder"},
    )
}
