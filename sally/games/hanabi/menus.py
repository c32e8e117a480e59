"""Tables that depend on the sizes of a game alone, made once for all matches of that size."""

from __future__ import annotations

from functools import lru_cache

from sally.games.hanabi.cards import DIGIT

Actions = tuple[int, ...]
DIGITS_ODDS = dict.fromkeys(range(DIGIT), 1 / DIGIT)
DIGITS_MENU = tuple(DIGITS_ODDS)


@lru_cache(maxsize=64)
def card_bits(colours: int, ranks: int) -> tuple[int, ...]:
    """The bit of its colour and the bit of its rank, by card."""
    cards = range(colours * ranks)
    return tuple(1 << card // ranks | 1 << colours + card % ranks for card in cards)


@lru_cache(maxsize=64)
def told_masks(colours: int, ranks: int) -> tuple[int, ...]:
    """What a hint leaves open on a card it touches: the value, and all of the other kind."""
    all_colours = (1 << colours) - 1
    all_ranks = ((1 << colours + ranks) - 1) & ~all_colours
    return tuple(
        1 << value | (all_ranks if value < colours else all_colours)
        for value in range(colours + ranks)
    )


@lru_cache(maxsize=256)
def slot_actions(first: int, slots: int) -> Actions:
    """One action a slot, numbered from `first`."""
    return tuple(range(first, first + slots))


def hint_number(players: int, colours: int, ranks: int, size: int, ahead: int, value: int) -> int:
    """The number of a hint: behind discards and plays, colours first, seat by seat."""
    if value < colours:
        return 2 * size + (ahead - 1) * colours + value
    return 2 * size + (players - 1) * colours + (ahead - 1) * ranks + value - colours


@lru_cache(maxsize=1 << 16)
def hint_menu(
    players: int, colours: int, ranks: int, size: int, ahead: int, bits: int
) -> tuple[Actions, Actions]:
    """The colour hints and the rank hints that touch a card of a hand with these bits."""
    values = [v for v in range(colours + ranks) if bits >> v & 1]
    sizes = (players, colours, ranks, size)
    return (
        tuple(hint_number(*sizes, ahead, v) for v in values if v < colours),
        tuple(hint_number(*sizes, ahead, v) for v in values if v >= colours),
    )
