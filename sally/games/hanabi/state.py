"""Cards, events, states and views of Hanabi."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

import msgspec

from sally.core.rules.history import History

# --- cards and the shuffle ------------------------------------------------------------------------


Card = int  # colour * ranks + rank, both from 0
DIGITS, DIGIT = 4, 100  # nature draws a deal as four numbers below a hundred
DEALS = DIGIT**DIGITS


def default_copies(ranks: int) -> tuple[int, ...]:
    """Return three copies of the lowest rank, one of the highest and two of each between."""
    return (3, *[2] * (ranks - 2), 1)


@lru_cache(maxsize=64)
def full_deck(colours: int, copies: tuple[int, ...]) -> tuple[Card, ...]:
    """Return all cards, sorted."""
    ranks = len(copies)
    return tuple(
        colour * ranks + rank
        for colour in range(colours)
        for rank, n in enumerate(copies)
        for _ in range(n)
    )


def shuffle_cards(cards: Sequence[Card], deal: int) -> tuple[Card, ...]:
    """Return the cards in the order of deal number `deal`, the same on every machine.

    This is a Fisher-Yates shuffle whose swaps are successive remainders of a 512-bit digest of the
    deal number, which is long enough because 50! has 215 bits.
    """
    number = int.from_bytes(blake2b(f"hanabi/{deal}".encode(), digest_size=64).digest(), "big")
    shuffled_cards = list(cards)
    for i in range(len(shuffled_cards) - 1, 0, -1):
        number, j = divmod(number, i + 1)
        shuffled_cards[i], shuffled_cards[j] = shuffled_cards[j], shuffled_cards[i]
    return tuple(shuffled_cards)


# --- events, states and views ---------------------------------------------------------------------


class Hinted(msgspec.Struct, frozen=True, gc=False):
    """A hint: `value` is a colour, or the number of colours plus a rank."""

    by: int
    to: int
    value: int
    touched: tuple[int, ...]  # slots, oldest first


class Played(msgspec.Struct, frozen=True, gc=False):
    """A played card; `drew` is the deck position of the card drawn for it, or -1."""

    by: int
    slot: int
    id: int
    card: Card
    scored: bool
    drew: int


class Discarded(msgspec.Struct, frozen=True, gc=False):
    """A discarded card; `drew` is the deck position of the card drawn for it, or -1."""

    by: int
    slot: int
    id: int
    card: Card
    drew: int


class Passed(msgspec.Struct, frozen=True, gc=False):
    """A forfeited turn."""

    by: int


Event = Hinted | Played | Discarded | Passed


class State(msgspec.Struct, frozen=True, gc=False):
    """The full state. A card's `id` is its position in the deck and does not reveal its face."""

    deck: tuple[Card, ...]  # empty until nature has drawn the deal
    ids: tuple[tuple[int, ...], ...] = ()
    hands: tuple[tuple[Card, ...], ...] = ()
    marks: tuple[tuple[int, ...], ...] = ()  # bits of the colours and ranks still possible
    drawn: int = 0
    piles: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()  # discarded and misplayed cards, counted by identity
    tokens: int = 0
    lives: int = 0
    mover: int = 0
    last: int = 0  # turns left once the deck is empty
    passes: int = 0  # forfeits in a row
    past: History[Event] = History()
    named: tuple[int, ...] = ()  # the numbers nature has drawn so far


class View(msgspec.Struct, frozen=True, gc=False):
    """The information of one seat, with its own hand empty because the seat cannot see it."""

    me: int
    hands: tuple[tuple[Card, ...], ...]  # the seat's own entry is empty
    ids: tuple[tuple[int, ...], ...]
    marks: tuple[tuple[int, ...], ...]
    piles: tuple[int, ...]
    gone: tuple[int, ...]
    tokens: int
    lives: int
    left: int  # cards left in the deck
    mover: int
    last: int
    past: History[Event]

    @property
    def slots(self) -> int:
        """The number of cards in the seat's own hand."""
        return len(self.ids[self.me])


Policy = Callable[[View], Mapping[int, float]]
"""A bot: from a view to the probabilities of its moves."""


# --- what a view shows of the past ----------------------------------------------------------------


def revealed_faces(view: View) -> dict[int, Card]:
    """Return the face of every card that this seat has seen, by card id."""
    faces = {event.id: event.card for event in view.past if isinstance(event, Played | Discarded)}
    for hand_ids, hand in zip(view.ids, view.hands, strict=True):
        faces.update(zip(hand_ids, hand, strict=False))  # the seat's own hand is empty
    return faces


def last_touched(view: View, seat: int) -> int | None:
    """Return the slot that a hint touched last (the newest of several), or None."""
    parted: list[int] = []
    for event in reversed(view.past):
        if isinstance(event, Played | Discarded) and event.by == seat:
            parted.append(event.slot)
        if isinstance(event, Hinted) and event.to == seat:
            held_slots = _held_since(event.touched, parted[::-1])
            if held_slots:
                return held_slots[-1]
    return None


def _held_since(slots: tuple[int, ...], parted: list[int]) -> list[int]:
    """Return the new positions of the cards in these slots after the cards in the slots `parted`
    were removed one after another."""
    slots_left = list(slots)
    for gone in parted:
        slots_left = [slot - (slot > gone) for slot in slots_left if slot != gone]
    return slots_left
