"""Keyed random streams: every random number belongs to a key, so one draw never shifts another.

A stream is made from (seed, seat, turn, purpose). Two episodes with the same seed and different
lineups or probe arms therefore have the same deals, and comparisons are paired.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")
Key = int | str

_SCALE = 2.0**-53


class Stream:
    """A stream of uniform draws from a hash of key and counter; identical on every machine."""

    __slots__ = ("_count", "_key")

    def __init__(self, *key: Key) -> None:
        self._key = "/".join(map(str, key))
        self._count = 0

    def __call__(self) -> float:
        """Return a number in [0, 1)."""
        digest = blake2b(f"{self._key}#{self._count}".encode(), digest_size=8).digest()
        self._count += 1
        return (int.from_bytes(digest, "big") >> 11) * _SCALE

    def below(self, n: int) -> int:
        """Return an integer in 0 .. n-1."""
        return int(self() * n)

    def pick(self, items: Sequence[T]) -> T:
        """Return one item, drawn with equal probability."""
        return items[self.below(len(items))]

    def draw(self, odds: Mapping[T, float]) -> T:
        """Return one key of `odds`, drawn with its probability."""
        if min(odds.values()) <= 0:
            odds = {item: p for item, p in odds.items() if p > 0}
        items, reached = list(odds), list(accumulate(odds.values()))
        point = self() * reached[-1]
        return items[min(bisect_right(reached, point), len(items) - 1)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        shuffled_items = list(items)
        for i in range(len(shuffled_items) - 1, 0, -1):
            j = self.below(i + 1)
            shuffled_items[i], shuffled_items[j] = shuffled_items[j], shuffled_items[i]
        return shuffled_items

    def generator(self) -> np.random.Generator:
        """Return a numpy generator with the same key, for bulk draws."""
        import numpy as np  # takes a tenth of a second, so not imported for a list of games

        return np.random.default_rng(list(blake2b(self._key.encode(), digest_size=16).digest()))


def derived_seed(*key: Key) -> int:
    """Return a seed derived from a key; identical on every machine and exact in any JSON reader."""
    digest = blake2b("/".join(map(str, key)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11
