"""The table of Hanabi: what has happened, everything there is, and what one seat knows of it."""

from __future__ import annotations

import msgspec

from sally.core.rules.history import History
from sally.games.hanabi.cards import Card


class Hinted(msgspec.Struct, frozen=True, gc=False):
    """A hint: `value` is a colour, or the number of colours plus a rank."""

    by: int
    to: int
    value: int
    touched: tuple[int, ...]  # slots, oldest first


class Played(msgspec.Struct, frozen=True, gc=False):
    """A card was played; `drew` is the number of the card drawn for it, -1 for none."""

    by: int
    slot: int
    id: int
    card: Card
    scored: bool
    drew: int


class Discarded(msgspec.Struct, frozen=True, gc=False):
    """A card was discarded."""

    by: int
    slot: int
    id: int
    card: Card
    drew: int


class Passed(msgspec.Struct, frozen=True, gc=False):
    """A turn was forfeited."""

    by: int


Event = Hinted | Played | Discarded | Passed


class State(msgspec.Struct, frozen=True, gc=False):
    """Everything. A card's `id` is its place in the deck: when it was drawn, not what it is."""

    deck: tuple[Card, ...]  # empty until the deal is named
    ids: tuple[tuple[int, ...], ...] = ()
    hands: tuple[tuple[Card, ...], ...] = ()
    marks: tuple[tuple[int, ...], ...] = ()  # bits of colours and ranks that hints leave open
    drawn: int = 0
    piles: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()  # discarded and misplayed cards, counted by identity
    tokens: int = 0
    lives: int = 0
    mover: int = 0
    last: int = 0  # turns left once the deck is empty
    passes: int = 0  # forfeits in a row
    past: History[Event] = History()
    named: tuple[int, ...] = ()  # nature's digits so far


class View(msgspec.Struct, frozen=True, gc=False):
    """What one seat knows; in place of its own hand is nothing."""

    me: int
    hands: tuple[tuple[Card, ...], ...]  # the others' cards; one's own place is empty
    ids: tuple[tuple[int, ...], ...]
    marks: tuple[tuple[int, ...], ...]
    piles: tuple[int, ...]
    gone: tuple[int, ...]
    tokens: int
    lives: int
    left: int  # cards in the deck
    mover: int
    last: int
    past: History[Event]

    @property
    def slots(self) -> int:
        """How many cards one holds."""
        return len(self.ids[self.me])
