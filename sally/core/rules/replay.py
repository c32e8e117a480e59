"""States, moves and reports of an episode by turn, from which true answers to probes are
computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sally.core.log.events import PlayerSpec, Reported
from sally.core.rules.game import A, Game, S, Seat, V

AskId = tuple[int, str, str, str]  # turn, seat, probe, about; a move has no probe
G = TypeVar("G", bound=Game)


@dataclass(frozen=True)
class Step(Generic[S, A]):
    """One transition of a game: the state before, the moves, and the state after."""

    turn: int
    before: S
    moves: Mapping[Seat, A]
    forfeited: tuple[Seat, ...]
    after: S


@dataclass
class Trajectory(Generic[S, A, V]):
    """The history of a match as the referee knows it; it grows with the match."""

    game: Game[S, A, V]
    states: list[S]  # the state before each turn, and the present one
    moves: list[Mapping[Seat, A]] = field(default_factory=list)
    forfeited: dict[int, tuple[Seat, ...]] = field(default_factory=dict)
    reports: dict[AskId, Reported] = field(default_factory=dict)
    repeated: dict[AskId, Reported] = field(default_factory=dict)  # answers to second askings
    pending: Mapping[Seat, A] = field(default_factory=dict)  # made this turn, not yet revealed
    lineup: Mapping[str, PlayerSpec] = field(default_factory=dict)  # who sits where, declared

    def __len__(self) -> int:
        return len(self.moves)

    def copy(self) -> Trajectory[S, A, V]:
        """Return an independent copy of this history for a copy of the match."""
        twin = replace(self, states=list(self.states), moves=list(self.moves))
        twin.forfeited, twin.reports = dict(self.forfeited), dict(self.reports)
        twin.repeated = dict(self.repeated)
        return twin

    def rules(self, kind: type[G]) -> G:
        """Return the game that is played, which must be of the class `kind`."""
        assert isinstance(self.game, kind)
        return self.game

    @property
    def present(self) -> S:
        """The current state."""
        return self.states[-1]

    def state(self, turn: int) -> S:
        """Return the state before a turn's moves."""
        return self.states[turn]

    def move(self, turn: int, seat: Seat) -> A | None:
        """Return a seat's move in a turn; None if it did not move or forfeited."""
        if turn < len(self.moves):
            return self.moves[turn].get(seat)
        return self.pending.get(seat)

    def view(self, turn: int, seat: Seat) -> V:
        """Return a seat's view before a turn's moves."""
        return self.game.observe(self.states[turn], seat)

    def report(self, turn: int, seat: Seat, probe: str, about: str = "") -> Reported | None:
        """Return a seat's answer to a probe in a turn, or None."""
        return self.reports.get((turn, seat, probe, about))

    def steps(self) -> Iterator[Step[S, A]]:
        """Iterate over the transitions of the game."""
        for turn, moves in enumerate(self.moves):
            forfeiting_seats = self.forfeited.get(turn, ())
            yield Step(turn, self.states[turn], moves, forfeiting_seats, self.states[turn + 1])
