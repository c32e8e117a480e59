"""Rules of public goods: players give part of an endowment; the multiplied pot is divided
evenly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from sally.core.errors import BadInput
from sally.core.rules.game import Seat, check_rounds
from sally.core.rules.simultaneous import Moves, SimultaneousGame, State, View, others_of

MOST_PLAYERS, MOST_TOKENS = 20, 1000
SEATS = tuple(Seat(f"player_{n}") for n in range(1, MOST_PLAYERS + 1))


@dataclass(frozen=True)
class PublicGoods(SimultaneousGame[View]):
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
        if self.unit < 1 or self.tokens % self.unit:
            raise BadInput(f"unit must be a divisor of tokens ({self.tokens}), not {self.unit}")
        check_rounds(self.rounds, self.void_limit)

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return SEATS[: self.players]

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return self.menu

    def observe(self, state: State, seat: Seat) -> View:
        return View(seat, self.number[seat], state.past, state.round)

    same_menus = True
    censors_forfeits = True

    def widest_menu(self) -> int:
        return len(self.menu)

    # --- what words, partners and measures ask ----------------------------------------------------

    def round_payoffs(self, moves: Moves) -> tuple[float, ...]:
        back = self.ratio * sum(moves) / self.players
        return tuple(self.tokens - contribution + back for contribution in moves)

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
        """The dominant contribution, which pays most whatever the others contribute; None if all
        contributions pay the same."""
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


def others_mean(contributions: Moves, number: int) -> float:
    """Return the mean contribution of all other seats."""
    others = others_of(contributions, number)
    return sum(others) / len(others)
