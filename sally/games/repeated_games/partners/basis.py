"""Building blocks of partners for repeated games: move probabilities, recent rounds, replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sally.core.errors import BadInput
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import AGENT, Joint, RepeatedGame, View, other

Q = TypeVar("Q")
Odds = Mapping[int, float]  # moves in rising order, none with chance 0: equal odds give equal draws
RoundTurn = Turn[int, View]

SAME = 1e-9  # expected payoffs closer than this are tied


@dataclass(frozen=True)
class Drawn:
    """A script that draws its move from probabilities that depend on the view only."""

    odds: Callable[[View], Odds]

    def __call__(self, turn: RoundTurn) -> int:
        chances = self.odds(turn.view)
        if len(chances) == 1:
            return next(iter(chances))
        return turn.draws.draw(chances)


class Follower(Generic[Q]):
    """A cached computation of the state that a history leads to, updated round by round.

    The last state is cached, so that a history is not replayed from its start in every round; this
    changes the running time, never the result.
    """

    def __init__(
        self,
        start: Q,
        after: Callable[[Q, int, int], Q],
        rounds: Callable[[View], list[Joint]] = View.played,
    ) -> None:
        self._start, self._after, self._rounds = start, after, rounds
        self._reached: tuple[list[Joint], Q] = ([], start)

    def state(self, view: View) -> Q:
        """Return the state after the played rounds."""
        played = self._rounds(view)
        seen, state = self._reached
        if played[: len(seen)] != seen:
            seen, state = [], self._start
        for mine, theirs in played[len(seen) :]:
            state = self._after(state, mine, theirs)
        self._reached = (played, state)
        return state


def latest(view: View, most: int) -> list[Joint]:
    """Return at most `most` of the last played rounds, as (own move, other's move), newest last."""
    if most == 1:
        return [] if view.last is None else [view.last]
    found: list[Joint] = []
    at = len(view.past) - 1
    while at >= 0 and len(found) < most:
        joint = view.past[at]
        if joint is not None:
            found.append(joint if view.seat == AGENT else (joint[1], joint[0]))
        at -= 1
    return found[::-1]


UNSEEN = -1  # the other's move in a void round


def with_void(view: View) -> list[Joint]:
    """Return the rounds in which the seat moved, as (own move, other's move); the other's move
    is UNSEEN in a void round."""
    if not view.void:
        return view.played()
    lost = dict(view.void)
    found: list[Joint] = []
    for at, joint in enumerate(view.rounds()):
        if joint is not None:
            found.append(joint)
        elif at in lost:
            found.append((lost[at], UNSEEN))
    return found


# --- odds -----------------------------------------------------------------------------------------


def surely(move: int) -> Odds:
    return {move: 1.0}


def evenly(moves: Iterable[int]) -> Odds:
    """Return equal probabilities for these moves."""
    listed = sorted(moves)
    return {move: 1 / len(listed) for move in listed}


def mostly(move: int, chance: float, moves: Sequence[int]) -> Odds:
    """Return a distribution with this probability for one move and the rest shared equally by the
    others."""
    rest = (1 - chance) / (len(moves) - 1)
    odds = {m: chance if m == move else rest for m in moves}
    return {m: p for m, p in odds.items() if p > 0}


def check_chance(name: str, chance: float) -> None:
    if not 0 <= chance <= 1:
        raise BadInput(f"{name} must be from 0 to 1, not {chance}")


# --- moves ----------------------------------------------------------------------------------------


def best_to(game: RepeatedGame, seat: Seat, belief: Mapping[int, float]) -> tuple[int, ...]:
    """Return the moves that pay most in one round if the other seat moves with these
    probabilities."""
    mine = game.moves_of(seat)
    worth = [sum(p * game.pay(seat, m, t) for t, p in belief.items()) for m in mine]
    return tuple(m for m in mine if worth[m] >= max(worth) - SAME)


def reply(game: RepeatedGame, seat: Seat, theirs: int) -> int:
    """Return a reply in kind: the other seat's move itself or, in a zero-sum game, the move that
    beats it."""
    return game.best_replies(seat, theirs)[0] if game.is_zero_sum else theirs


def check_move(game: RepeatedGame, seat: Seat, name: str, move: int) -> None:
    moves = game.moves_of(seat)
    if type(move) is not int or move not in moves:
        raise BadInput(f"{name} must be a move from 0 to {moves[-1]}, not {move!r}")


def check_copies(game: RepeatedGame, seat: Seat, name: str) -> None:
    """Raise BadInput unless every move of the other seat is also a move of this seat."""
    own, theirs = len(game.moves_of(seat)), len(game.moves_of(other(seat)))
    if theirs > own:
        raise BadInput(f"{name} copies the other seat's {theirs} moves, but has only {own} moves")
