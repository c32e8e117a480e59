"""Rules of level-k games: all seats move simultaneously each round, and then see all moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sally.core.errors import BadInput
from sally.core.rules import simultaneous
from sally.core.rules.game import Seat, check_rounds
from sally.core.rules.simultaneous import Moves, SimultaneousGame, State, mean_of, others_of
from sally.games.level_k.notes import Notes
from sally.games.level_k.payoffs import MOST_SEATS, Numeric, Pays, Request

SEATS = tuple(Seat(f"player_{n}") for n in range(1, MOST_SEATS + 1))


class View(simultaneous.View, frozen=True, gc=False):
    """The information of a seat: every played round, and which rounds were void."""

    def played(self) -> list[tuple[int, int]]:
        """Return the played rounds as (own move, other's move); with several others, their mean
        move."""
        return [
            (moves[self.number], mean_of(others_of(moves, self.number)))
            for moves in self.past
            if moves is not None
        ]


@dataclass(frozen=True)
class LevelGame(SimultaneousGame[View]):
    """A level-k game; `pays` selects which one and holds its parameters."""

    pays: Pays = field(default_factory=Request)
    rounds: int = 1
    void_limit: int = 3  # consecutive forfeited rounds that end the episode without a result
    notes: Notes | None = None  # what player_1 knows about player_2's expectations (request game)

    def __post_init__(self) -> None:
        check_rounds(self.rounds, self.void_limit)
        if self.notes is None:
            return
        if not isinstance(self.pays, Request):
            raise BadInput("`notes` can be set only in the request game")
        for note in self.notes.notes:
            if note.amount not in self.pays.menu(0):
                raise BadInput(f"a note says {note.amount}, which nobody can ask for")

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return SEATS[: self.pays.seats]

    def round_payoffs(self, moves: Moves) -> tuple[float, ...]:
        return self.pays.pay(moves)

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        return self.menu(seat)

    def observe(self, state: State, seat: Seat) -> View:
        return View(seat, self.number[seat], state.past, state.round)

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

    @cached_property
    def _menus(self) -> Mapping[Seat, tuple[int, ...]]:
        return {seat: self.pays.menu(n) for n, seat in enumerate(self.seats)}
