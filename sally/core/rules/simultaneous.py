"""Games of rounds in which all seats choose a number at the same time and then see all choices."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from sally.core.rules.board import Progress
from sally.core.rules.game import Game, Seat, V
from sally.core.rules.history import History

Moves = tuple[int, ...]  # by seat


class State(msgspec.Struct, frozen=True, gc=False):
    """The full state: the rounds so far and their payoffs."""

    past: History[Moves | None]  # None: the round was void
    round: int
    totals: tuple[float, ...]
    void_in_a_row: int = 0


class View(msgspec.Struct, frozen=True, gc=False):
    """The information of a seat: all moves of every played round, and which rounds were void."""

    seat: Seat
    number: int  # of the seat, from 0
    past: History[Moves | None]
    round: int

    def rounds(self, since: int = 0) -> Iterator[Moves | None]:
        """Yield all seats' moves by round, starting at index `since`; None for a void round."""
        return self.past.since(since)

    @property
    def last(self) -> Moves | None:
        """The moves of the last round that was not void."""
        return next((moves for moves in reversed(self.past) if moves is not None), None)


class SimultaneousGame(Game[State, int, V]):
    """Rules of games with a number of rounds; a subclass defines menus and payoffs."""

    rounds: int
    void_limit: int  # consecutive forfeited rounds that end the episode without a result
    pays_as_it_goes = True

    @abstractmethod
    def round_payoffs(self, moves: Moves) -> tuple[float, ...]:
        """Return each seat's payoff in a round."""

    def start(self) -> State:
        return State(History(), 1, (0.0,) * len(self.seats))

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.round > self.rounds else self.seats

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        joint_move = tuple(moves[seat] for seat in self.seats)
        totals = tuple(
            had + gets
            for had, gets in zip(state.totals, self.round_payoffs(joint_move), strict=True)
        )
        return State(state.past.append(joint_move), state.round + 1, totals)

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """Make the round void: it counts, pays nothing, and reveals no move."""
        past, void = state.past.append(None), state.void_in_a_row + 1
        return State(past, state.round + 1, state.totals, void)

    def censored(self, state: State) -> str | None:
        if state.void_in_a_row < self.void_limit:
            return None
        return f"{state.void_in_a_row} rounds in a row were void"

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        return dict(zip(self.seats, state.totals, strict=True))

    @cached_property
    def number(self) -> Mapping[Seat, int]:
        """The index of each seat, from 0."""
        return {seat: n for n, seat in enumerate(self.seats)}

    def others(self, seat: Seat) -> tuple[Seat, ...]:
        """Return all other seats."""
        return tuple(other_seat for other_seat in self.seats if other_seat != seat)


def totals_of(game: SimultaneousGame, view: View) -> list[float]:
    """Return each seat's points so far, from the rounds that a seat has seen."""
    totals = [0.0] * len(game.seats)
    for moves in view.rounds():
        if moves is not None:
            totals = [
                total + gain for total, gain in zip(totals, game.round_payoffs(moves), strict=True)
            ]
    return totals


def progress_of(game: SimultaneousGame, view: View) -> Progress:
    """Return the number of the round and the seat's points so far."""
    score = f"{totals_of(game, view)[view.number]:.6g}" if len(view.past) else ""
    return Progress(min(view.round, game.rounds), game.rounds, score=score)


def compare_points(game: SimultaneousGame, view: View) -> str:
    """Return one sentence that compares a seat's points with those of the others."""
    totals = totals_of(game, view)
    own_points = totals[view.number]
    best = max(points for number, points in enumerate(totals) if number != view.number)
    rounds = sum(moves is not None for moves in view.rounds())
    comparison = (
        "more than" if own_points > best else "less than" if own_points < best else "as much as"
    )
    whom = "the other player" if len(totals) == 2 else "the best of the others"
    played = "1 round" if rounds == 1 else f"{rounds} rounds"
    points_text = "1 point" if own_points == 1 else f"{own_points:.6g} points"
    return f"In {played} you got {points_text}, {comparison} {whom} ({best:.6g})."


def name_others(game: SimultaneousGame, number: int) -> tuple[str, ...]:
    """Return the names of all other seats on the page of seat `number`."""
    if len(game.seats) == 2:
        return ("Other player",)
    return tuple(f"Player {n}" for n in range(1, len(game.seats) + 1) if n != number + 1)


def others_of(moves: Moves, number: int) -> Moves:
    """Return the moves of all other seats."""
    return moves[:number] + moves[number + 1 :]


def mean_of(moves: Moves) -> int:
    """Return the whole number nearest to the mean; halves are rounded up."""
    return (2 * sum(moves) + len(moves)) // (2 * len(moves))
