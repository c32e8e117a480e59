"""Rules of level-k games: all seats move simultaneously each round, and then see all moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import MOST_ROUNDS, Game, Seat
from sally.core.rules.history import History
from sally.games.level_k.payoffs import MOST_SEATS, Numeric, Pays, Request

SEATS = tuple(Seat(f"player_{n}") for n in range(1, MOST_SEATS + 1))
Moves = tuple[int, ...]  # by seat


class State(msgspec.Struct, frozen=True, gc=False):
    """The full state: the rounds so far and their payoffs."""

    past: History[Moves | None]  # None: the round was void
    round: int
    totals: tuple[float, ...]
    void_in_a_row: int = 0


class View(msgspec.Struct, frozen=True, gc=False):
    """The information of a seat: every played round, and which rounds were void."""

    seat: Seat
    number: int  # of the seat, from 0
    past: History[Moves | None]
    round: int

    def rounds(self, since: int = 0) -> Iterator[Moves | None]:
        """Yield all seats' moves by round, starting at index `since`; None for a void round."""
        return self.past.since(since)

    def played(self) -> list[tuple[int, int]]:
        """Return the played rounds as (own move, other's move); with several others, their mean
        move."""
        return [
            (moves[self.number], mean_of(others_of(moves, self.number)))
            for moves in self.past
            if moves is not None
        ]


@dataclass(frozen=True)
class LevelGame(Game[State, int, View]):
    """A level-k game; `pays` selects which one and holds its parameters."""

    pays: Pays = field(default_factory=Request)
    rounds: int = 1
    void_limit: int = 3  # consecutive forfeited rounds that end the episode without a result

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise BadInput(f"rounds must be from 1 to {MOST_ROUNDS:,}, not {self.rounds}")
        if self.void_limit < 1:
            raise BadInput(f"void_limit must be at least 1, not {self.void_limit}")

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return SEATS[: self.pays.seats]

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State(History(), 1, (0.0,) * len(self.seats))

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.round > self.rounds else self.seats

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return self.menu(seat)

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        made = tuple(moves[seat] for seat in self.seats)
        paid = self.pays.pay(made)
        totals = tuple(had + gets for had, gets in zip(state.totals, paid, strict=True))
        return State(state.past.append(made), state.round + 1, totals)

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

    def observe(self, state: State, seat: Seat) -> View:
        return View(seat, self.number[seat], state.past, state.round)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        return dict(zip(self.seats, state.totals, strict=True))

    pays_as_it_goes = True

    def widest_menu(self) -> int:
        return max(len(menu) for menu in self._menus.values())

    # --- what words, minds and measures ask -------------------------------------------------------

    def menu(self, seat: Seat) -> tuple[int, ...]:
        """Return the legal moves of a seat, which are the same in every round."""
        return self._menus[seat]

    @property
    def numeric(self) -> bool:
        """Whether moves are numbers."""
        return isinstance(self.pays, Numeric)

    def others(self, seat: Seat) -> tuple[Seat, ...]:
        """Return all other seats."""
        return tuple(each for each in self.seats if each != seat)

    @cached_property
    def number(self) -> Mapping[Seat, int]:
        """The index of each seat, from 0."""
        return {seat: n for n, seat in enumerate(self.seats)}

    @cached_property
    def _menus(self) -> Mapping[Seat, tuple[int, ...]]:
        return {seat: self.pays.menu(n) for n, seat in enumerate(self.seats)}


def others_of(moves: Moves, number: int) -> Moves:
    """Return the moves of all other seats."""
    return moves[:number] + moves[number + 1 :]


def mean_of(moves: Moves) -> int:
    """Return the whole number nearest to the mean; halves are rounded up."""
    return (2 * sum(moves) + len(moves)) // (2 * len(moves))
