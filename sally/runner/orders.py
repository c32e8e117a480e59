"""Orders (the planned episodes of a study), stored in a few bytes each.

Episodes of one cell, instance and lineup differ only in seed and repeat. Their shared data is
stored once, and an order (episode id, cell and setup) is built on access, because hashing a million
ids first would keep workers waiting.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from hashlib import blake2b
from itertools import chain, repeat
from typing import Any, overload

import msgspec

from sally.core.log.events import Episode, Setup, canonical, episode_id
from sally.core.rules.chance import derived_seed
from sally.players.language import uses_model
from sally.runner.config import in_process

Order = tuple[str, str, Setup]  # (episode id, cell, setup)
Alike = tuple[str, Setup]  # cell, and a setup without seed and repeat
ID_BYTES = 12  # length of an id in bytes
HEX_DIGITS = 24  # of an episode id


class PackedEpisodes(msgspec.Struct, frozen=True, omit_defaults=True):
    """Planned episodes in compact form, for sending to a worker."""

    alike: tuple[Alike, ...] = ()
    which: list[int] = []  # index into `alike`, for each order
    repeat: list[int] = []
    seeds: list[int] = []  # of each order; empty if derived from the study's seed
    seed: int = 0  # the study's seed

    def __len__(self) -> int:
        return len(self.which)

    def orders(self) -> list[Order]:
        """Return each planned episode as (episode id, cell, setup)."""
        planned = Orders(self.seed)
        for alike in self.alike:
            planned.kind(alike)
        planned._which.extend(self.which)
        planned._repeat.extend(self.repeat)
        planned._seed.extend(self.seeds)
        return planned[:]


class Orders(Sequence[Order]):
    """A sequence of planned episodes with distinct ids, each built when it is accessed."""

    def __init__(self, seed: int = 0) -> None:
        self.alike: list[Alike] = []
        self._hashes: list[_Hash] = []
        self._from = seed  # the study's seed, for orders added in bulk
        self._which, self._repeat, self._seed = array("I"), array("Q"), array("Q")
        self._known: set[bytes] = set()
        self._ids = b""  # all ids, computed on first use

    def kind(self, alike: Alike) -> int:
        """Register a cell and a setup that planned episodes share; return the number of this
        kind."""
        self.alike.append(alike)
        self._hashes.append(_Hash(alike[1]))
        return len(self.alike) - 1

    def add(self, kind: int, seed: int, repeat: int) -> None:
        """Add a planned episode of a registered kind, unless it is already listed."""
        id = self._hashes[kind](seed, repeat)
        if id in self._known:
            return
        self._known.add(id)
        self._which.append(kind)
        self._seed.append(seed)
        self._repeat.append(repeat)

    def add_all(self, kinds: Sequence[int], repeats: int) -> None:
        """Add `repeats` planned episodes of each registered kind, with seeds derived from the
        study's seed.

        Duplicates are not detected, so the kinds must describe different episodes.
        """
        self._which += array("I", kinds) * repeats
        self._repeat.extend(chain.from_iterable(repeat(n, len(kinds)) for n in range(repeats)))

    def end(self) -> Orders:
        """Free the data that is needed only while episodes are added."""
        self._known.clear()
        return self

    @property
    def kinds(self) -> Sequence[int]:
        """The kind of each planned episode: its index in `alike`."""
        return self._which

    def kind_of(self, number: int) -> int:
        """Return the kind of the planned episode with this number: its index in `alike`."""
        return self._which[number]

    def seed(self, number: int) -> int:
        """Return the seed of the planned episode with this number."""
        if self._seed:
            return self._seed[number]
        instance = self.alike[self._which[number]][1].instance
        return derived_seed(self._from, instance.id, self._repeat[number])

    def id(self, number: int) -> str:
        """Return the id of the planned episode with this number."""
        return self._digest(number, self.seed(number)).hex()

    def _digest(self, number: int, seed: int) -> bytes:
        return self._hashes[self._which[number]](seed, self._repeat[number])

    def found_in(self, finished: Set[str]) -> Sequence[bool] | None:
        """Return, for each planned episode, whether its id is in `finished`; None if `finished` is
        empty."""
        if not finished:
            return None
        if not self._ids:
            ids = (self._digest(n, self.seed(n)) for n in range(len(self)))
            self._ids = b"".join(ids)
        text = self._ids.hex()
        return [text[n : n + HEX_DIGITS] in finished for n in range(0, len(text), HEX_DIGITS)]

    def pack(self, numbers: Sequence[int]) -> PackedEpisodes:
        """Return the planned episodes with these numbers in compact form."""
        kinds, repeat, places = self._which, self._repeat, dict[int, int]()
        packed_kinds = [places.setdefault(kinds[n], len(places)) for n in numbers]
        repeats, seeds = [repeat[n] for n in numbers], self._seed
        own_seeds = [seeds[n] for n in numbers] if seeds else []
        return PackedEpisodes(
            tuple(self.alike[k] for k in places), packed_kinds, repeats, own_seeds, self._from
        )

    def order(self, number: int) -> Order:
        """Return the planned episode with this number as (episode id, cell, setup)."""
        cell, setup = self.alike[self._which[number]]
        seed, repeat = self.seed(number), self._repeat[number]
        played = msgspec.structs.replace(setup, seed=seed, repeat=repeat)
        return self._digest(number, seed).hex(), cell, played

    def __len__(self) -> int:
        return len(self._which)

    @overload
    def __getitem__(self, index: int) -> Order: ...
    @overload
    def __getitem__(self, index: slice) -> list[Order]: ...
    def __getitem__(self, index: int | slice) -> Order | list[Order]:
        if isinstance(index, slice):
            return [self.order(n) for n in range(len(self))[index]]
        return self.order(range(len(self))[index])

    def __iter__(self) -> Iterator[Order]:
        return map(self.order, range(len(self)))


SEED, REPEAT = 8765432109876543, 7654321098765432  # placeholders that occur in no study


class _Hash:
    """A hasher for setups that differ only in seed and repeat; the shared part is hashed once."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        text = canonical(msgspec.structs.replace(setup, seed=SEED, repeat=REPEAT))
        head, _, tail = text.partition(b"%d" % REPEAT)
        self._middle, _, self._after = tail.partition(b"%d" % SEED)
        self._begun = blake2b(head, digest_size=ID_BYTES)
        self._plain = text.count(b"%d" % REPEAT) == tail.count(b"%d" % SEED) == 1

    def __call__(self, seed: int, repeat: int) -> bytes:
        if not repeat or not self._plain:  # repeat 0 is omitted from the encoding
            setup = msgspec.structs.replace(self._setup, seed=seed, repeat=repeat)
            return bytes.fromhex(episode_id(setup))
        hashed = self._begun.copy()
        hashed.update(b"%d%b%d%b" % (repeat, self._middle, seed, self._after))
        return hashed.digest()


# --- kinds of episode ---


def kind_of(order: tuple[Any, ...]) -> str:
    """Return `bots`, `models` (in this process) or `providers`, depending on the players of an
    episode."""
    names = models_in(order[-1])
    if not names:
        return "bots"
    return "models" if all(in_process(name) for name in names) else "providers"


def models_in(setup: Setup) -> set[str]:
    """Return the names of the models in a setup."""
    return {
        str(player.params.get("model", "embedded"))
        for player in setup.lineup.values()
        if uses_model(player)
    }


def alike(setup: Setup) -> str:
    """Return a key shared by episodes that need a similar number of calls: game and strategies."""
    strategies = [str(w.params.get("strategy", w.player)) for w in setup.lineup.values()]
    return " ".join([setup.instance.game, *strategies])


def calls_of(episode: Episode) -> int:
    """Return the number of model calls in an episode's log."""
    return sum(len(event.calls) for event in episode.events)
