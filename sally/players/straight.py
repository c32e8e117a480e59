"""A decision in one call, taken straight from a reply that is there already.

A language player's `decide` waits for its model. Where replies come from outside, the same page is
shown and the same move read without waiting, if the player asks once and the first reply names a
move. Whatever else a reply is, the answer here is None, and `decide` is run from its beginning: it
shows the same page, is given the same reply, and goes on from there.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core import redaction as keys
from sally.core.log.events import Call, Moved
from sally.core.match.engine import Match
from sally.core.match.player import Player, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.model import Message, Settings, User
from sally.core.prompt.prompt_hash import page_hash
from sally.core.prompt.words import Words
from sally.core.reply.reading import SHORT
from sally.core.rules.menu import admitted
from sally.core.rules.seat import Seat
from sally.players.first_try import page_of, seeded
from sally.players.language import LanguagePlayer

READ = 4096  # so many replies are kept with the moves that they name


class Shown(msgspec.Struct, frozen=True, gc=False):
    """What one ask shows: a page, and how it is to be answered. The log's part waits to be asked.

    The hash of a page and the seed of a call are a quarter of a step; they are worked out when the
    log, the messages or the settings are looked at.
    """

    turn: Turn[Any, Any]
    opening: HashedText  # what stands above the tail; the two are the page
    tail: str
    base: Settings  # without a seed for this call

    @property
    def messages(self) -> list[Message]:
        """The page as the one message of a conversation."""
        return [User(self.opening.plus(self.tail))]

    @property
    def settings(self) -> Settings:
        """How the call is to be made, its seed included."""
        return seeded(self.base, self.turn, 0)

    def moved(self, event: Moved, usage: dict[str, Any]) -> Moved:
        """The event of a move with the call behind it."""
        shown = page_hash(self.opening.plus(self.tail))
        settings = msgspec.to_builtins(self.settings)
        call = Call("move", shown, event.reply, "stop", usage, settings)
        return Moved(event.turn, event.seat, event.action, event.reply, 1, (call,))


class Straight:
    """The short way of one language player at the matches of one task."""

    def __init__(self, player: LanguagePlayer, match: Match[Any, Any, Any], seat: str) -> None:
        self._player = player
        words = match.context(Seat(seat)).words
        self._alike = match.game.same_menus and type(words).read is Words.read
        self._known: dict[str, Any] = {}

    def shown(self, turn: Turn[Any, Any]) -> Shown:
        """The page that `decide` shows first, and the settings of its call."""
        player = self._player
        context = self._reworded(turn.context) if player.pack_texts else turn.context
        return Shown(turn, *page_of(turn, context, player.texts), player.settings)

    def moved(self, shown: Shown, text: str) -> Moved | None:
        """The event of a reply that names a move; None if `decide` has to see to it."""
        turn = shown.turn
        action = self._known.get(text)
        if action is None and (action := self._read(text, turn)) is None:
            return None
        if keys.scrubbed(text) is not text:
            return None
        return Moved(turn.id[0], turn.context.seat, action, text)

    def _reworded(self, context: SeatContext) -> SeatContext:
        return context.in_words(self._player.pack, self._player.pack_texts)

    def _read(self, text: str, turn: Turn[Any, Any]) -> Any:
        """The move that a short reply names, remembered where nothing else decides about it."""
        if len(text) > SHORT:
            return None
        words, options = self._reworded(turn.context).words, turn.options
        try:
            action = admitted(options, words.read(text, turn.view, options))
        except Exception:  # `decide` reads it again, and says and logs what is wrong with it
            return None
        if self._alike and len(self._known) < READ:
            self._known[text] = action
        return action


def straight_way(
    player: Player[Any, Any], match: Match[Any, Any, Any], seat: str
) -> Straight | None:
    """The short way of a player in a seat; None where a decision may take more than one call."""
    if not isinstance(player, LanguagePlayer) or not player.asks_once:
        return None
    if match.spec.tools or match.setup.arms.get(seat):
        return None
    return Straight(player, match, seat)
