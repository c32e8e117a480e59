"""What a seat won a round with void and unplayed rounds counted: nothing for them, or the most."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.level_k.metrics import game_of
from sally.games.level_k.spec import a_round


def INTENDED(played: Played, seat: Seat) -> tuple[float, float, float | None]:
    """A void round pays nothing by the rules; at best, the most that a round can pay."""
    game, steps = game_of(played), list(played.replay.steps())
    done = [step for step in steps if not step.forfeited]
    earned = sum(_paid(played, step.moves, seat) for step in done)
    due = len(steps) if played.episode.payoffs is not None else game.rounds
    mine = sum(seat in step.forfeited for step in steps)
    missed = a_round(game, seat)[1] * (mine + due - len(steps))
    return earned / due, (earned + missed) / due, None


def _paid(played: Played, moves: object, seat: Seat) -> float:
    game = game_of(played)
    assert isinstance(moves, dict)
    made = tuple(moves[other] for other in game.seats)
    return float(game.pays.pay(made)[game.seats.index(seat)])
