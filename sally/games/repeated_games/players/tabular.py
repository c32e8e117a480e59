"""The tabular learner of riemer2025: R-MAX for acting, frequency counts for predicting."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.core.match.player import Decision, PlayerKind, Silence, Turn
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import Question, Report
from sally.games.repeated_games.players.rmax import Settings, state_after, states, tied_moves
from sally.games.repeated_games.rules import RepeatedGame, View, other

PayTable = tuple[tuple[float, ...], ...]  # (mine, theirs) -> my reward


class Learned(msgspec.Struct, frozen=True):
    """What a tabular learner keeps from turn to turn."""

    seen: int  # rounds looked at, void ones included
    state: int
    model: tuple[int, ...]  # visits by (state, my move, their move), fixed once a pair is known
    counts: tuple[int, ...]  # their moves by state, in all rounds


class Tabular(msgspec.Struct, frozen=True):
    """Tries what it does not know, then does what pays; predicts what was most frequent."""

    pay: PayTable
    settings: Settings = Settings()

    def decide(self, turn: Turn[int, View]) -> Decision[int]:
        learned = self.learned(turn.memory, turn.view)
        tied = greedy(learned.model, self.pay, self.settings)[learned.state]
        if len(tied) == 1 or self.settings.ties == "first":
            return Decision(tied[0], learned)
        return Decision(turn.draws.pick(tied), learned)

    def report(self, turn: Turn[int, View]) -> Report | Silence:
        learned, width = self.learned(turn.memory, turn.view), len(self.pay[0])
        here = learned.counts[learned.state * width : (learned.state + 1) * width]
        return count_report(turn.question, turn.seat, here)

    def learned(self, memory: Learned | None, view: View) -> Learned:
        """What is known before this turn's move: the memory, and the rounds since."""
        known = self.untaught() if memory is None else memory
        for joint in view.rounds(known.seen):
            known = self.taught(known, joint)
        return known

    def untaught(self) -> Learned:
        pay = np.array(self.pay)
        size = states(pay, self.settings)
        return Learned(0, 0, (0,) * (size * pay.size), (0,) * (size * pay.shape[1]))

    def taught(self, known: Learned, joint: tuple[int, int] | None) -> Learned:
        """One more round; a void one teaches nothing and leaves the state as it was."""
        if joint is None:
            return msgspec.structs.replace(known, seen=known.seen + 1)
        mine, theirs = joint
        width, height = len(self.pay[0]), len(self.pay)
        pair = (known.state * height + mine) * width
        visits = sum(known.model[pair : pair + width])
        model = known.model
        if visits < self.settings.visits:
            model = _one_more(model, pair + theirs)
        counts = _one_more(known.counts, known.state * width + theirs)
        after = state_after(mine, theirs, width, self.settings)
        return Learned(known.seen + 1, after, model, counts)


def _one_more(counts: tuple[int, ...], at: int) -> tuple[int, ...]:
    return (*counts[:at], counts[at] + 1, *counts[at + 1 :])


@lru_cache(maxsize=16_384)
def greedy(
    model: tuple[int, ...], pay: PayTable, settings: Settings
) -> tuple[tuple[int, ...], ...]:
    """The moves among which the learner draws, by state."""
    table = np.array(pay)
    shape = (1, states(table, settings), *table.shape)
    tied = tied_moves(np.array(model, dtype=np.int32).reshape(shape), table, settings)[0]
    return tuple(tuple(int(move) for move in np.flatnonzero(row)) for row in tied)


def count_report(
    question: Question | None, seat: Seat, counts: tuple[int, ...]
) -> Report | Silence:
    """The most frequent of the other's moves (the first of several), with odds.

    The odds are those of the rule of succession, (count + 1) / (all + moves): even where there
    is no count yet, when the prediction is move 0.
    """
    assert question is not None  # a report is asked for with a question only
    if question.about != other(seat) or question.choices != tuple(range(len(counts))):
        return Silence("the learner only counts the other's moves")
    total = sum(counts) + len(counts)
    return Report(counts.index(max(counts)), tuple((n + 1) / total for n in counts))


def pay_of(name: str, game: Game[Any, Any, Any], seat: Seat) -> PayTable:
    """A seat's payoffs, for learners of repeated games; refuses other games."""
    if not isinstance(game, RepeatedGame):
        raise BadInput(f"{name} plays repeated games only, not {type(game).__name__}.")
    return tuple(
        tuple(float(game.pay(seat, mine, theirs)) for theirs in game.moves_of(other(seat)))
        for mine in game.moves_of(seat)
    )


def _tabular(
    spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], seat: Seat, **settings: Any
) -> Tabular:
    return Tabular(pay_of("tabular", game, seat), Settings(**settings))


PLAYERS = {
    "tabular": PlayerKind(
        "tabular",
        "R-MAX over the last joint action, predicting by frequency counts (riemer2025)",
        _tabular,
        msgspec.structs.asdict(Settings()),
    ),
}
