"""Where a study is cut into shards.

A shard holds at least `LEAST` episodes, of as few games and lineups as that allows. The same study
is always cut in the same places, so that two runs of it speak of the same shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import count
from typing import TypeVar

import msgspec

from sally.runner.kinds import alike, kind_of
from sally.runner.orders import Orders
from sally.runner.shards import Shard

LEAST = {"bots": 50, "models": 20, "providers": 20}  # episodes of a shard; bots take milliseconds
SEEN = 4  # episodes of a shard by whose ids it is called
MOST = 1000  # episodes of a shard
# into how many a study of middle size is cut; shards of bots are given out in parts anyway
CUTS = {"bots": 64, "models": 256, "providers": 256}
K = TypeVar("K")


class Cut(msgspec.Struct, frozen=True):
    """A shard whose orders are not put together yet."""

    name: str
    kind: str  # as `kind_of` has it
    alike: str  # what takes about as long an episode
    numbers: Sequence[int]  # of its orders that are missing

    def shard(self, wanted: Orders) -> Shard:
        """The shard itself."""
        return Shard(self.name, wanted.packed(self.numbers))


def shards_of(
    wanted: Orders, together: bool = False, there: Sequence[bool] | None = None
) -> Iterator[Shard]:
    """All episodes in shards, as `cuts_of` has it."""
    return (cut.shard(wanted) for cut in cuts_of(wanted, together, there))


def cuts_of(
    wanted: Orders, together: bool = False, there: Sequence[bool] | None = None
) -> Iterator[Cut]:
    """Where a study is cut, in its own order as far as games and lineups allow.

    `together` leaves the episodes with models in one piece, for a process that plays them
    side by side. Orders that are `there`, by number, are left out, and so is a shard of which all
    are; the name of a shard does not hang on that.
    """
    known = [kind_of(order) for order in wanted.alike]
    named = [alike(setup) for _, setup in wanted.alike]
    kinds = _grouped(wanted, range(len(wanted)), known)
    places = count()
    for kind in (kind for kind in LEAST if kind in kinds):
        whole = together and kind != "bots"
        cut = [kinds[kind]] if whole else _cut(wanted, kinds[kind], kind)
        for part, place in zip(cut, places, strict=False):  # parts first: no place is lost
            if lacking := part if there is None else [n for n in part if not there[n]]:
                yield Cut(_name(wanted, place, part), kind, named[wanted.which(part[0])], lacking)


def _cut(wanted: Orders, numbers: Sequence[int], kind: str) -> list[list[int]]:
    """Groups of one game and lineup, small ones together, large ones in even pieces."""
    size = min(max(len(numbers) // CUTS[kind], LEAST[kind]), MOST)
    lineups = [
        (setup.instance.game, msgspec.json.encode(setup.lineup, order="sorted"))
        for _, setup in wanted.alike
    ]
    groups = _grouped(wanted, numbers, lineups)
    waiting: list[int] = []
    ready: list[list[int]] = []
    for group in groups.values():
        waiting += group
        pieces = len(waiting) // size
        for piece in range(pieces):
            ready.append(waiting[piece * size : (piece + 1) * size])
        waiting = waiting[pieces * size :]
    if waiting and ready:  # too few to travel alone
        ready[-1] += waiting
    elif waiting:
        ready.append(waiting)
    return ready


def _grouped(wanted: Orders, numbers: Sequence[int], keys: Sequence[K]) -> dict[K, Sequence[int]]:
    """These numbers by the key of their kind, in the order of kinds."""
    if len(set(keys)) == 1:
        return {keys[0]: numbers} if numbers else {}
    groups: dict[K, list[int]] = {key: [] for key in keys}
    put = [groups[key].append for key in keys]
    which = wanted.kinds
    for number in numbers:
        put[which[number]](number)
    return {key: group for key, group in groups.items() if group}


def _name(wanted: Orders, place: int, part: Sequence[int]) -> str:
    """The place of a shard and what is in it, by a few of its episodes."""
    some = [part[n * (len(part) - 1) // (SEEN - 1)] for n in range(SEEN)]
    seen = f"{len(part)}" + "".join(map(wanted.id, some))
    return f"{place:05d}-{blake2b(seen.encode(), digest_size=4).hexdigest()}"
