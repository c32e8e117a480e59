"""Building blocks of partners for repeated games: move probabilities, recent rounds, replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sally.core.errors import BadInput
from sally.core.match.partner import Automaton, Partner, Script
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.history import Follower
from sally.games.repeated_games.rules import AGENT, Joint, RepeatedGame, View, other_seat

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


def latest(view: View, limit: int) -> list[Joint]:
    """Return at most `limit` of the last played rounds, as (own move, other's move), newest
    last."""
    last_rounds: list[Joint] = []
    index = len(view.past) - 1
    while index >= 0 and len(last_rounds) < limit:
        joint = view.past[index]
        if joint is not None:
            last_rounds.append(joint if view.seat == AGENT else (joint[1], joint[0]))
        index -= 1
    return last_rounds[::-1]


UNSEEN = -1  # the other's move in a void round


def with_void(view: View, since: int = 0) -> Iterator[Joint]:
    """Yield the rounds from index `since` on in which the seat moved, as (own move, other's move);
    the other's move is UNSEEN in a void round."""
    own_void_moves = dict(view.void)
    for index, joint in enumerate(view.rounds(since), since):
        if joint is not None:
            yield joint
        elif index in own_void_moves:
            yield own_void_moves[index], UNSEEN


# --- partners that are automata -------------------------------------------------------------------


def recalling(
    machine: Automaton[Any], memory: int, recent: Callable[[View, int], Sequence[Joint]] = latest
) -> Drawn:
    """Return the script of an automaton that depends on the last `memory` rounds only."""

    @cache  # so few rounds are looked at that all odds are soon known
    def odds(*rounds: Joint) -> Odds:
        state = machine.start
        for own_move, other_move in rounds:
            state = machine.after(state, own_move, other_move)
        return machine.odds(state)

    return Drawn(lambda view: odds(*recent(view, memory)))


def finite(
    *, automaton: Callable[..., Automaton[Any]], memory: int | None, **fields: Any
) -> Partner:
    """Return the partner that plays like an automaton; with `memory` None, all rounds count."""

    def make(game: RepeatedGame, seat: Seat, **params: Any) -> Script:
        machine = automaton(game, seat, **params)
        if memory is None:
            follower = Follower(machine.start, machine.after, View.rounds)
            return Drawn(lambda view: machine.odds(follower.state(view)))
        if memory > 1:
            return recalling(machine, memory)
        if machine.odds is not surely:
            return recalling(machine, memory, lambda view, _: [view.last] if view.last else [])
        first, next_state, others = machine.start, machine.after, game.moves_of(other_seat(seat))
        moves = [
            [next_state(first, own_move, their) for their in others]
            for own_move in game.moves_of(seat)
        ]

        def reply_to_last(turn: RoundTurn) -> int:
            last = turn.view.last
            move: int = first if last is None else moves[last[0]][last[1]]
            return move

        return reply_to_last

    return Partner(make=make, automaton=automaton, memory=memory, **fields)


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
    other_chance = (1 - chance) / (len(moves) - 1)
    odds = {m: chance if m == move else other_chance for m in moves}
    return {m: p for m, p in odds.items() if p > 0}


def check_chance(name: str, chance: float) -> None:
    if not 0 <= chance <= 1:
        raise BadInput(f"{name} must be from 0 to 1, not {chance}")


# --- moves ----------------------------------------------------------------------------------------


def best_to(game: RepeatedGame, seat: Seat, belief: Mapping[int, float]) -> tuple[int, ...]:
    """Return the moves that pay most in one round if the other seat moves with these
    probabilities."""
    own_moves = game.moves_of(seat)
    values = [sum(p * game.pay(seat, m, t) for t, p in belief.items()) for m in own_moves]
    return tuple(m for m in own_moves if values[m] >= max(values) - SAME)


def reply(game: RepeatedGame, seat: Seat, other_move: int) -> int:
    """Return a reply in kind: the other seat's move itself or, in a zero-sum game, the move that
    beats it."""
    return game.best_replies(seat, other_move)[0] if game.is_zero_sum else other_move


def check_move(game: RepeatedGame, seat: Seat, name: str, move: int) -> None:
    moves = game.moves_of(seat)
    if type(move) is not int or move not in moves:
        raise BadInput(f"{name} must be a move from 0 to {moves[-1]}, not {move!r}")


def check_copies(game: RepeatedGame, seat: Seat, name: str) -> None:
    """Raise BadInput unless every move of the other seat is also a move of this seat."""
    n_own, n_other = len(game.moves_of(seat)), len(game.moves_of(other_seat(seat)))
    if n_other > n_own:
        raise BadInput(
            f"{name} copies the other seat's {n_other} moves, but has only {n_own} moves"
        )
