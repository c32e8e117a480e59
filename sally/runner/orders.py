"""What a study wants, in few bytes each: a million episodes are listed before the first is played.

Episodes of one cell, problem and lineup differ in seed and repeat alone. These are kept in arrays,
and an order is put together when somebody looks at it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from hashlib import blake2b
from typing import overload

import msgspec

from sally.core.log import Setup, canonical, episode_id

Order = tuple[str, str, Setup]  # (episode id, cell, setup)
Alike = tuple[str, Setup]  # cell, and a setup but for seed and repeat
ID_BYTES = 12  # of an id, as its hexadecimal digits say it


class Orders(Sequence[Order]):
    """Orders in the order in which they were added, each id once."""

    def __init__(self) -> None:
        self.alike: list[Alike] = []
        self._hashes: list[_Hash] = []
        self._which, self._repeat, self._seed = array("I"), array("Q"), array("Q")
        self._ids = bytearray()
        self._known: set[bytes] = set()

    def kind(self, alike: Alike) -> int:
        """A number for orders that differ in seed and repeat alone."""
        self.alike.append(alike)
        self._hashes.append(_Hash(alike[1]))
        return len(self.alike) - 1

    def add(self, kind: int, seed: int, repeat: int) -> None:
        """Take an order of a kind, unless its episode is wanted already."""
        id = self._hashes[kind](seed, repeat)
        if id in self._known:
            return
        self._known.add(id)
        self._ids += id
        self._which.append(kind)
        self._seed.append(seed)
        self._repeat.append(repeat)

    def end(self) -> Orders:
        """Nothing more is added: what was needed for that goes."""
        self._known.clear()
        self._hashes.clear()
        return self

    def which(self, number: int) -> int:
        """The kind of an order."""
        return self._which[number]

    def id(self, number: int) -> str:
        """The id of an order's episode."""
        return self._ids[number * ID_BYTES : (number + 1) * ID_BYTES].hex()

    def found_in(self, finished: Set[str]) -> Sequence[bool] | None:
        """Which orders need not be played, by number; None where all have to be."""
        if not finished:
            return None
        from sally.store.counting import which_are_there  # numpy, which workers do without

        return which_are_there(finished, bytes(self._ids))

    def order(self, number: int) -> Order:
        """One order, put together."""
        cell, setup = self.alike[self._which[number]]
        given = {"seed": self._seed[number], "repeat": self._repeat[number]}
        return self.id(number), cell, msgspec.structs.replace(setup, **given)

    def __len__(self) -> int:
        return len(self._which)

    @overload
    def __getitem__(self, at: int) -> Order: ...
    @overload
    def __getitem__(self, at: slice) -> list[Order]: ...
    def __getitem__(self, at: int | slice) -> Order | list[Order]:
        if isinstance(at, slice):
            return [self.order(n) for n in range(len(self))[at]]
        return self.order(range(len(self))[at])

    def __iter__(self) -> Iterator[Order]:
        return map(self.order, range(len(self)))


SEED, REPEAT = 8765432109876543, 7654321098765432  # numbers that stand in no study by accident


class _Hash:
    """The ids of setups that differ in seed and repeat alone, with the rest of them hashed once."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        text = canonical(msgspec.structs.replace(setup, seed=SEED, repeat=REPEAT))
        before, _, rest = text.partition(b"%d" % REPEAT)
        self._middle, _, self._after = rest.partition(b"%d" % SEED)
        self._begun = blake2b(before, digest_size=ID_BYTES)
        self._plain = text.count(b"%d" % REPEAT) == rest.count(b"%d" % SEED) == 1

    def __call__(self, seed: int, repeat: int) -> bytes:
        if not repeat or not self._plain:  # a first run does not say that it is one
            given = msgspec.structs.replace(self._setup, seed=seed, repeat=repeat)
            return bytes.fromhex(episode_id(given))
        hashed = self._begun.copy()
        hashed.update(b"%d%b%d%b" % (repeat, self._middle, seed, self._after))
        return hashed.digest()
