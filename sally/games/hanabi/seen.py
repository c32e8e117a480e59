"""What a seat has seen of the cards, by their number in the deck."""

from __future__ import annotations

from sally.games.hanabi.cards import Card
from sally.games.hanabi.table import Discarded, Hinted, Played, View


def revealed(view: View) -> dict[int, Card]:
    """What each card is or was, as far as this seat has seen it, by its number."""
    known = {event.id: event.card for event in view.past if isinstance(event, Played | Discarded)}
    for own, hand in zip(view.ids, view.hands, strict=True):
        known.update(zip(own, hand, strict=False))  # one's own hand is not shown
    return known


def last_touched(view: View, seat: int) -> int | None:
    """The slot of a hand that a hint touched last, the newest of them; None if none was."""
    parted: list[int] = []
    for event in reversed(view.past):
        if isinstance(event, Played | Discarded) and event.by == seat:
            parted.append(event.slot)
        if isinstance(event, Hinted) and event.to == seat:
            held = _held_since(event.touched, parted[::-1])
            if held:
                return held[-1]
    return None


def _held_since(slots: tuple[int, ...], parted: list[int]) -> list[int]:
    """Where cards are that lay in these slots before others, or they themselves, left the hand."""
    left = list(slots)
    for gone in parted:
        left = [slot - (slot > gone) for slot in left if slot != gone]
    return left
