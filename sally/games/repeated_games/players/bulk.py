"""Bulk simulation of the tabular learner: thousands of episodes at once against automata.

Episodes that have learned the same model share its solution. The player for single episodes uses
the same function, so with the same draws for ties both play the same moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.core.match.partner import Automaton
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.games.repeated_games.optimum import Floats, Ints, Machine, machine_of, pay_table
from sally.games.repeated_games.players.tabular import (
    Counts,
    Mask,
    Settings,
    empty_model,
    tied_moves,
)
from sally.games.repeated_games.rules import RepeatedGame


class Rounds(msgspec.Struct, frozen=True):
    """The moves and predictions of many episodes, each indexed by (episode, round)."""

    own_moves: Ints
    other_moves: Ints
    predicted: Ints


class UniformDraws(msgspec.Struct, frozen=True):
    """Uniform draws indexed by (episode, round), for the learner's ties and the partner's moves."""

    ties: Floats
    partner: Floats


def drawn_luck(episodes: int, rounds: int, chance: np.random.Generator) -> UniformDraws:
    """Return random draws for bulk play from a numpy generator."""
    return UniformDraws(chance.random((episodes, rounds)), chance.random((episodes, rounds)))


def keyed_luck(seeds: Sequence[int], seat: Seat, partner: Seat, rounds: int) -> UniformDraws:
    """Return the random draws that single episodes with these seeds would use."""

    def of(seat: Seat) -> Floats:
        return np.array([[Stream(s, seat, n, "move")() for n in range(rounds)] for s in seeds])

    return UniformDraws(of(seat), of(partner))


def play_tabular(
    game: RepeatedGame,
    seat: Seat,
    partners: Sequence[Automaton[Any]],
    lots: Ints,
    luck: UniformDraws,
    settings: Settings | None = None,
) -> Rounds:
    """Play episode i against `partners[lots[i]]`, using row i of the draws in `luck`."""
    used_settings = settings or Settings()
    _check(game, len(partners), lots, luck)
    machine, starts = _join_machines([machine_of(game, seat, partner) for partner in partners])
    pay = pay_table(game, seat)
    models = _Models(pay, used_settings)
    n, episode_index = len(lots), np.arange(len(lots))
    theirs_at, state, model = starts[lots], np.zeros(n, np.intp), np.zeros(n, np.intp)
    counts = np.zeros((n, models.size, pay.shape[1]), np.int32)
    moves, replies, predicted = (np.zeros((n, game.rounds), np.intp) for _ in range(3))
    reached = machine.odds.cumsum(axis=1)
    for t in range(game.rounds):
        own_moves = _pick_tied(models.tied[model, state], luck.ties[:, t], used_settings)
        other_moves = _draw_moves(reached[theirs_at], luck.partner[:, t])
        predicted[:, t] = counts[episode_index, state].argmax(axis=1)  # no counts: move 0
        moves[:, t], replies[:, t] = own_moves, other_moves
        counts[episode_index, state, other_moves] += 1
        model = models.next_model(model, state, own_moves, other_moves)
        theirs_at = machine.next_states[theirs_at, other_moves, own_moves]
        state = own_moves * pay.shape[1] + other_moves + int(used_settings.own_start)
    return Rounds(moves, replies, predicted)


def _check(game: RepeatedGame, partners: int, lots: Ints, luck: UniformDraws) -> None:
    if game.stop_chance:
        raise BadInput("Bulk play needs a fixed number of rounds; stop_chance must be 0.")
    if len(lots) and not 0 <= lots.min() <= lots.max() < partners:
        raise BadInput(f"`lots` must contain indices of partners, from 0 to {partners - 1}.")
    for numbers in (luck.ties, luck.partner):
        if numbers.shape != (len(lots), game.rounds):
            raise BadInput(
                f"The random numbers in `luck` have shape {numbers.shape}; the shape must be "
                f"{(len(lots), game.rounds)}, episodes by rounds."
            )


def _join_machines(machines: Sequence[Machine]) -> tuple[Machine, Ints]:
    """Return all machines merged into one, and the start state of each."""
    sizes = [len(machine.odds) for machine in machines]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    odds = np.concatenate([machine.odds for machine in machines])
    transitions = np.concatenate(
        [machine.next_states + start for machine, start in zip(machines, starts, strict=True)]
    )
    return Machine(odds, transitions), starts


def _pick_tied(tied: Mask, luck: Floats, settings: Settings) -> Ints:
    """Return one of the tied moves for each episode, chosen as by `Stream.pick`."""
    place = np.zeros(len(tied), np.intp)
    if settings.ties == "random":
        place = (luck * tied.sum(axis=1)).astype(np.intp)
    return np.asarray((tied.cumsum(axis=1) == place[:, None] + 1).argmax(axis=1))


def _draw_moves(reached: Floats, luck: Floats) -> Ints:
    """Return one move for each episode, chosen as by `Stream.draw`."""
    passed = (luck[:, None] * reached[:, -1:] >= reached).sum(axis=1)
    return np.asarray(np.minimum(passed, reached.shape[1] - 1), np.intp)


class _Models:
    """All models learned in any episode, numbered, with their greedy moves."""

    def __init__(self, pay: Floats, settings: Settings) -> None:
        self._pay, self._settings = pay, settings
        first = empty_model(pay, settings)
        self.size = len(first)
        self._models: list[Counts] = [first]
        self._number = {first.tobytes(): 0}
        self._next: dict[int, int] = {}  # packed (model, state, mine, theirs) -> model
        self.tied = tied_moves(first[None], pay, settings)
        self._full = self._is_full(first[None])

    def next_model(self, model: Ints, state: Ints, own_moves: Ints, other_moves: Ints) -> Ints:
        """Return the index of each episode's learned model after one more round."""
        learns = ~self._full[model, state, own_moves]
        if not learns.any():
            return model
        shape = (len(self._models), self.size, *self._pay.shape)
        packed = np.ravel_multi_index(
            (model[learns], state[learns], own_moves[learns], other_moves[learns]), shape
        )
        steps, back = np.unique(packed, return_inverse=True)
        n_known = len(self._models)
        numbers = [self._follow(int(step), shape) for step in steps]
        if len(self._models) > n_known:
            new = np.stack(self._models[n_known:])
            tied = tied_moves(new, self._pay, self._settings)
            self.tied = np.concatenate([self.tied, tied])
            self._full = np.concatenate([self._full, self._is_full(new)])
        moved = model.copy()
        moved[learns] = np.array(numbers, np.intp)[back.reshape(-1)]
        return moved

    def _follow(self, step: int, shape: tuple[int, ...]) -> int:
        if step not in self._next:
            model, state, own_move, other_move = (int(i) for i in np.unravel_index(step, shape))
            grown = self._models[model].copy()
            grown[state, own_move, other_move] += 1
            key = grown.tobytes()
            if key not in self._number:
                self._number[key] = len(self._models)
                self._models.append(grown)
            self._next[step] = self._number[key]
        return self._next[step]

    def _is_full(self, models: Counts) -> Mask:
        return np.asarray(models.sum(axis=3) >= self._settings.visits)
