"""Rules of public goods: players give part of an endowment; the multiplied pot is divided
evenly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import MOST_ROUNDS, Game, Seat
from sally.core.rules.history import History

MOST_PLAYERS, MOST_TOKENS = 20, 1000
SEATS = tuple(Seat(f"player_{n}") for n in range(1, MOST_PLAYERS + 1))
Given = tuple[int, ...]  # contributions by seat


class State(msgspec.Struct, frozen=True, gc=False):
    """The full state: the rounds so far and their payoffs."""

    past: History[Given | None]  # None: the round was void
    round: int
    totals: tuple[float, ...]
    void_in_a_row: int = 0


class View(msgspec.Struct, frozen=True, gc=False):
    """The information of a seat: all contributions in every played round."""

    seat: Seat
    number: int  # of the seat, from 0
    past: History[Given | None]
    round: int

    def rounds(self, since: int = 0) -> Iterator[Given | None]:
        """Yield all contributions by round, starting at index `since`; None for a void round."""
        return self.past.since(since)

    @property
    def last(self) -> Given | None:
        """The contributions of the last round that was not void."""
        return next((given for given in reversed(self.past) if given is not None), None)


@dataclass(frozen=True)
class PublicGoods(Game[State, int, View]):
    """A public goods game: each token contributed returns `ratio / players` to every player."""

    players: int = 4
    tokens: int = 20  # of each player, anew in every round
    ratio: float = 2.0  # by which the pot is multiplied
    rounds: int = 10
    unit: int = 1  # contributions are multiples of it; equal to `tokens`: all or nothing
    void_limit: int = 3  # consecutive forfeited rounds that end the episode without a result

    def __post_init__(self) -> None:
        if not 2 <= self.players <= MOST_PLAYERS:
            raise BadInput(f"players must be from 2 to {MOST_PLAYERS}, not {self.players}")
        if not 1 <= self.tokens <= MOST_TOKENS:
            raise BadInput(f"tokens must be from 1 to {MOST_TOKENS}, not {self.tokens}")
        if not isfinite(self.ratio) or self.ratio < 0:
            raise BadInput(f"ratio must be a number of at least 0, not {self.ratio}")
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise BadInput(f"rounds must be from 1 to {MOST_ROUNDS:,}, not {self.rounds}")
        if self.unit < 1 or self.tokens % self.unit:
            raise BadInput(f"unit must be a divisor of tokens ({self.tokens}), not {self.unit}")
        if self.void_limit < 1:
            raise BadInput(f"void_limit must be at least 1, not {self.void_limit}")

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return SEATS[: self.players]

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State(History(), 1, (0.0,) * self.players)

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return () if state.round > self.rounds else self.seats

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return self.menu

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        given = tuple(moves[seat] for seat in self.seats)
        totals = tuple(a + b for a, b in zip(state.totals, self.paid(given), strict=True))
        return State(state.past.append(given), state.round + 1, totals)

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """Make the round void: it counts, pays nothing, and reveals no contribution."""
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
    same_menus = True
    censors_forfeits = True

    def widest_menu(self) -> int:
        return len(self.menu)

    # --- what words, partners and measures ask ----------------------------------------------------

    def paid(self, given: Given) -> tuple[float, ...]:
        """Return each player's payoff in a round."""
        back = self.ratio * sum(given) / self.players
        return tuple(self.tokens - each + back for each in given)

    @cached_property
    def menu(self) -> tuple[int, ...]:
        """The contributions that a player may choose."""
        return tuple(range(0, self.tokens + 1, self.unit))

    @property
    def back(self) -> float:
        """The return of a contributed token to each player."""
        return self.ratio / self.players

    @property
    def dominant(self) -> int | None:
        """The contribution that pays most whatever the others give; None if all contributions pay
        the same."""
        if self.back == 1:
            return None
        return self.tokens if self.back > 1 else 0

    @property
    def joint_optimum(self) -> int | None:
        """The contribution per player that pays the group most; None if all contributions pay the
        same."""
        if self.ratio == 1:
            return None
        return self.tokens if self.ratio > 1 else 0

    @cached_property
    def number(self) -> Mapping[Seat, int]:
        """The index of each seat, from 0."""
        return {seat: n for n, seat in enumerate(self.seats)}


def others_of(given: Given, number: int) -> Given:
    """Return the contributions of all other seats."""
    return given[:number] + given[number + 1 :]


def others_mean(given: Given, number: int) -> float:
    """Return the mean contribution of all other seats."""
    others = others_of(given, number)
    return sum(others) / len(others)


def mean_of(given: Given) -> int:
    """Return the whole number nearest to the mean; halves are rounded up."""
    return (2 * sum(given) + len(given)) // (2 * len(given))
