"""Moves, states and views of Codenames."""

from __future__ import annotations

from typing import Literal

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.menu import Act
from sally.games.codenames.instances import Colour

GIVER, GUESSER = Seat("giver"), Seat("guesser")
End = Literal["won", "assassin", "rival"]


class Clue(Act, frozen=True):
    """One word, and for how many cards it is meant."""

    word: str
    number: int


class Guess(Act, frozen=True):
    """A card that is turned over: by the guesser, or by the rival team."""

    word: str


class Stop(Act, frozen=True):
    """The guesser turns over no more cards in this turn."""


Action = Clue | Guess | Stop


class Said(msgspec.Struct, frozen=True, tag="said"):
    """A clue that stands."""

    word: str
    number: int


class Turned(msgspec.Struct, frozen=True, tag="turned"):
    """A card that was turned over, and by whom."""

    word: str
    colour: Colour
    rival: bool = False


class Passed(msgspec.Struct, frozen=True, tag="passed"):
    """A turn that ended without a further card: stopped, or forfeited by a seat."""

    forfeited: str = ""


class Over(msgspec.Struct, frozen=True, tag="over"):
    """A board that is over: how, and what it paid."""

    how: End
    paid: float


Event = Said | Turned | Passed | Over


class Refusal(msgspec.Struct, frozen=True):
    """A clue that the rules turned down, and behind how many events it came."""

    after: int
    word: str
    why: str


class State(msgspec.Struct, frozen=True):
    """Everything that happened, and what is open on the present board."""

    log: tuple[Event, ...] = ()
    board: int = 0
    began: int = 0  # how many events lie before the present board
    clue: Said | None = None
    left: int = 0  # cards that the guesser may still turn over in this turn
    rival: bool = False  # whether the rival team is to turn over a card
    refused: tuple[Refusal, ...] = ()

    @property
    def turned(self) -> tuple[Turned, ...]:
        """The cards of the present board that lie open."""
        return tuple(e for e in self.log[self.began :] if isinstance(e, Turned))

    @property
    def guessed(self) -> bool:
        """Whether a card was turned over since the clue."""
        return bool(self.log) and isinstance(self.log[-1], Turned)


class View(msgspec.Struct, frozen=True):
    """What a seat knows: the keys are the giver's alone."""

    seat: Seat
    boards: tuple[tuple[str, ...], ...]  # the words of every board so far
    log: tuple[Event, ...]
    began: int
    keys: tuple[tuple[Colour, ...], ...] = ()
    clue: Said | None = None
    left: int = 0
    over: bool = False
    refused: tuple[Refusal, ...] = ()  # the giver's own

    @property
    def turned(self) -> dict[str, Colour]:
        """The open cards of the present board, by word."""
        return {e.word: e.colour for e in self.log[self.began :] if isinstance(e, Turned)}

    @property
    def covered(self) -> tuple[str, ...]:
        """The words of the present board that do not lie open."""
        turned = self.turned
        return tuple(word for word in self.boards[-1] if word not in turned)

    @property
    def colours(self) -> dict[str, Colour]:
        """The key of the present board, for the giver."""
        return dict(zip(self.boards[-1], self.keys[-1], strict=True)) if self.keys else {}
