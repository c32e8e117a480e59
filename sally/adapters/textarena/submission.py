"""What a player of a TextArena game sees and sends."""

from __future__ import annotations

import msgspec

from sally.adapters.textarena.environment import Message
from sally.core.rules.game import Seat
from sally.core.rules.menu import Act

SEATS = (Seat("player_0"), Seat("player_1"))
LONGEST = 20_000  # characters of a text


class Submission(Act, frozen=True):
    """The text that a player sends; TextArena reads the move in it."""

    text: str


class View(msgspec.Struct, frozen=True):
    """What TextArena has shown to a player, and what the player has sent."""

    seat: Seat
    messages: tuple[Message, ...] = ()
    sent: tuple[str, ...] = ()  # by this player, in order
    is_over: bool = False
    forfeited: tuple[Seat, ...] = ()  # seats whose forfeit ended the game
