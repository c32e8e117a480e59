"""What a study wants, in few bytes each: a million episodes are listed before the first is played.

Episodes of one cell, problem and lineup differ in seed and repeat alone. What they have in common
is kept once, and an order is put together when somebody looks at it. Its seed and its id are worked
out then, too, unless orders are added one by one: a driver that hashed them all would keep its
workers waiting.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from hashlib import blake2b
from itertools import chain, repeat
from typing import overload

import msgspec

from sally.core.log.events import Setup, canonical, episode_id
from sally.core.rules.chance import derived_seed

Order = tuple[str, str, Setup]  # (episode id, cell, setup)
Alike = tuple[str, Setup]  # cell, and a setup but for seed and repeat
ID_BYTES = 12  # of an id, as its hexadecimal digits say it


class Packed(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some orders as they travel: what they have in common once, and little of each."""

    alike: tuple[Alike, ...] = ()
    which: list[int] = []  # of those above, for each order
    repeat: list[int] = []
    seeds: list[int] = []  # of each; none where they follow from the study's
    seed: int = 0  # of the study

    def __len__(self) -> int:
        return len(self.which)

    def orders(self) -> list[Order]:
        """The orders, put together."""
        found = Orders(self.seed)
        for alike in self.alike:
            found.kind(alike)
        found._which.extend(self.which)
        found._repeat.extend(self.repeat)
        found._seed.extend(self.seeds)
        return found[:]


class Orders(Sequence[Order]):
    """Orders in the order in which they were added, each id once."""

    def __init__(self, seed: int = 0) -> None:
        self.alike: list[Alike] = []
        self._hashes: list[_Hash] = []
        self._from = seed  # of the study, for orders that are added in bulk
        self._which, self._repeat, self._seed = array("I"), array("Q"), array("Q")
        self._known: set[bytes] = set()
        self._ids = b""  # of all, once they were asked for

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
        self._which.append(kind)
        self._seed.append(seed)
        self._repeat.append(repeat)

    def add_all(self, kinds: Sequence[int], repeats: int) -> None:
        """Take an order of each kind so many times, with seeds as a study gives them.

        Nobody looks whether an episode is wanted already: kinds must differ in what is played.
        """
        self._which += array("I", kinds) * repeats
        self._repeat.extend(chain.from_iterable(repeat(n, len(kinds)) for n in range(repeats)))

    def end(self) -> Orders:
        """Nothing more is added: what was needed for that goes."""
        self._known.clear()
        return self

    @property
    def kinds(self) -> Sequence[int]:
        """The kind of each order."""
        return self._which

    def which(self, number: int) -> int:
        """The kind of an order."""
        return self._which[number]

    def seed(self, number: int) -> int:
        """The seed of an order."""
        if self._seed:
            return self._seed[number]
        instance = self.alike[self._which[number]][1].instance
        return derived_seed(self._from, instance.id, self._repeat[number])

    def id(self, number: int) -> str:
        """The id of an order's episode."""
        return self._digest(number, self.seed(number)).hex()

    def _digest(self, number: int, seed: int) -> bytes:
        return self._hashes[self._which[number]](seed, self._repeat[number])

    def found_in(self, finished: Set[str]) -> Sequence[bool] | None:
        """Which orders need not be played, by number; None where all have to be."""
        if not finished:
            return None
        from sally.store.deduplicate import which_are_there  # numpy, which workers do without

        if not self._ids:
            ids = (self._digest(n, self.seed(n)) for n in range(len(self)))
            self._ids = b"".join(ids)
        return which_are_there(finished, self._ids)

    def packed(self, numbers: Sequence[int]) -> Packed:
        """Some orders, by their numbers, as they travel."""
        which, repeat, places = self._which, self._repeat, dict[int, int]()
        own = [places.setdefault(which[n], len(places)) for n in numbers]
        again, seeds = [repeat[n] for n in numbers], self._seed
        given = [seeds[n] for n in numbers] if seeds else []
        return Packed(tuple(self.alike[k] for k in places), own, again, given, self._from)

    def order(self, number: int) -> Order:
        """One order, put together."""
        cell, setup = self.alike[self._which[number]]
        seed, again = self.seed(number), self._repeat[number]
        played = msgspec.structs.replace(setup, seed=seed, repeat=again)
        return self._digest(number, seed).hex(), cell, played

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
