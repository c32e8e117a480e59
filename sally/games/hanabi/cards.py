"""Cards as numbers, and the shuffle that belongs to the number of a deal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

Card = int  # colour * ranks + rank, both from 0
DIGITS, DIGIT = 4, 100  # nature names a deal by four numbers below a hundred
DEALS = DIGIT**DIGITS


def default_copies(ranks: int) -> tuple[int, ...]:
    """Three of the lowest rank, one of the highest, two of those between."""
    return (3, *[2] * (ranks - 2), 1)


@lru_cache(maxsize=64)
def full_deck(colours: int, copies: tuple[int, ...]) -> tuple[Card, ...]:
    """All cards, sorted."""
    ranks = len(copies)
    return tuple(
        colour * ranks + rank
        for colour in range(colours)
        for rank, n in enumerate(copies)
        for _ in range(n)
    )


def shuffled(cards: Sequence[Card], deal: int) -> tuple[Card, ...]:
    """The order of the cards in deal number `deal`, the same on every machine.

    A 512-bit digest of the number is read as the number of a permutation: from the back, each
    place swaps with the one that the next remainder names. 50! has 215 bits.
    """
    number = int.from_bytes(blake2b(f"hanabi/{deal}".encode(), digest_size=64).digest(), "big")
    left = list(cards)
    for i in range(len(left) - 1, 0, -1):
        number, j = divmod(number, i + 1)
        left[i], left[j] = left[j], left[i]
    return tuple(left)
