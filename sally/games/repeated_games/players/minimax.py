"""The player that makes sure of the most it can be sure of, whatever the other does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.core.match.player import Decision, PlayerKind, Silence, Turn
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import Report
from sally.games.repeated_games.rules import RepeatedGame, other
from sally.players.mindless import asked


@lru_cache(maxsize=1024)
def security(game: RepeatedGame, seat: Seat) -> Mapping[int, float]:
    """The odds of the moves that maximise the least one can expect in a round.

    A linear program (von Neumann 1928): maximise v, where every reply leaves at least v. In a
    zero-sum game this is the equilibrium.
    """
    from scipy.optimize import linprog  # here: it takes longer to load than most matches

    mine, theirs = game.moves_of(seat), game.moves_of(other(seat))
    pay = np.array([[game.pay(seat, m, t) for t in theirs] for m in mine], dtype=float)
    n = len(mine)
    solved = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[-pay.T, np.ones(len(theirs))],
        b_ub=np.zeros(len(theirs)),
        A_eq=np.r_[np.ones(n), 0.0][None, :],
        b_eq=[1.0],
        bounds=[(0, 1)] * n + [(None, None)],
        method="highs",
    )
    if solved.x is None or not solved.success:
        raise BadInput(f"minimax play could not be found: {solved.message}")
    odds = np.clip(solved.x[:n], 0, 1).round(12)
    return {m: float(p / odds.sum()) for m, p in enumerate(odds) if p > 0}


class Minimax(msgspec.Struct, frozen=True):
    """Plays its security odds in every round, and expects the other to play its own."""

    mine: Mapping[int, float]
    theirs: Mapping[int, float]

    def decide(self, turn: Turn[Any, Any]) -> Decision[int]:
        return Decision(turn.draws.draw(self.mine))

    def report(self, turn: Turn[Any, Any]) -> Report | Silence:
        question = asked(turn)
        if question.about != other(turn.seat):
            return Silence("minimax only expects moves of the other")
        odds = tuple(self.theirs.get(int(choice), 0.0) for choice in question.choices)
        return Report(turn.draws.draw(self.theirs), odds)


def _minimax(spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], seat: Seat) -> Minimax:
    if not isinstance(game, RepeatedGame):
        raise BadInput(f"`minimax` is known for matrix games only; {spec.name} is none")
    return Minimax(security(game, seat), security(game, other(seat)))


PLAYERS = {
    "minimax": PlayerKind(
        "minimax", "the odds that make the least it can expect in a round largest", _minimax
    ),
}
