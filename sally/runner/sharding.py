"""Cut a study into shards, and shards into parts sized by measured time.

A shard holds at least `LEAST` episodes of as few games and lineups as possible. A study is always
cut in the same places, so that two runs of it agree on the shards. A run gives a long shard to
workers in parts: each part takes at most a third of the average work left per worker, so parts get
shorter towards the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import count
from math import ceil, inf
from typing import TypeVar

import msgspec

from sally.runner.orders import Orders, alike, kind_of

# least episodes of a shard; bots take milliseconds each
LEAST = {"bots": 50, "models": 20, "providers": 20}
SEEN = 4  # episodes whose ids enter a shard's name
MOST = 1000  # most episodes of a shard
# shards of a medium study; bots' shards are split into parts anyway
CUTS = {"bots": 64, "models": 256, "providers": 256}
K = TypeVar("K")
FIRST = 5  # episodes of a part whose duration is unknown
SHORTEST_SECONDS = 0.05  # shortest part; starting one takes milliseconds
SHARE = 3  # parts left per worker if all were as long as the next


class IndexedShard(msgspec.Struct, frozen=True):
    """A shard that holds the positions of its episodes in the plan instead of the episodes
    themselves."""

    name: str
    kind: str  # as `kind_of` has it
    alike: str  # key of episodes that take about as long
    numbers: Sequence[int]  # numbers of its missing orders


def cuts_of(
    planned: Orders, together: bool = False, is_stored: Sequence[bool] | None = None
) -> Iterator[IndexedShard]:
    """Yield the shards of a study, in the study's order as far as games and lineups allow.

    `together` keeps episodes with models in one shard, for a process that plays them concurrently.
    Episodes that are marked in `is_stored` are left out; this does not affect the names of shards.
    """
    model_kinds = [kind_of(order) for order in planned.alike]
    alike_names = [alike(setup) for _, setup in planned.alike]
    kinds = _group_numbers(planned, range(len(planned)), model_kinds)
    places = count()
    for kind in (kind for kind in LEAST if kind in kinds):
        stays_whole = together and kind != "bots"
        cut = [kinds[kind]] if stays_whole else _cut(planned, kinds[kind], kind)
        # `cut` first, so that no place is skipped
        for part, place in zip(cut, places, strict=False):
            if lacking := part if is_stored is None else [n for n in part if not is_stored[n]]:
                yield IndexedShard(
                    _name(planned, place, part),
                    kind,
                    alike_names[planned.kind_of(part[0])],
                    lacking,
                )


def cut_name(planned: Orders, together: bool) -> str:
    """Return a name that two runs share if they cut the same episodes into the same shards."""
    has_models = any(kind_of(order) != "bots" for order in planned.alike)
    study_name = _name(planned, 0, range(len(planned))) if len(planned) else ""
    return f"{study_name}-{'together' if together and has_models else 'apart'}"


def _cut(planned: Orders, numbers: Sequence[int], kind: str) -> list[list[int]]:
    """Return the numbers of planned episodes, grouped by game and lineup; small groups are joined,
    and large ones are split."""
    size = min(max(len(numbers) // CUTS[kind], LEAST[kind]), MOST)
    lineups = [
        (setup.instance.game, msgspec.json.encode(setup.lineup, order="sorted"))
        for _, setup in planned.alike
    ]
    groups = _group_numbers(planned, numbers, lineups)
    waiting: list[int] = []
    ready: list[list[int]] = []
    for group in groups.values():
        waiting += group
        pieces = len(waiting) // size
        for piece in range(pieces):
            ready.append(waiting[piece * size : (piece + 1) * size])
        waiting = waiting[pieces * size :]
    if waiting and ready:  # too few for a shard of their own
        ready[-1] += waiting
    elif waiting:
        ready.append(waiting)
    return ready


def _group_numbers(
    planned: Orders, numbers: Sequence[int], keys: Sequence[K]
) -> dict[K, Sequence[int]]:
    """Return the numbers of planned episodes by group; `keys` holds the group of each kind of
    episode."""
    if len(set(keys)) == 1:
        return {keys[0]: numbers} if numbers else {}
    groups: dict[K, list[int]] = {key: [] for key in keys}
    appenders = [groups[key].append for key in keys]
    episode_kinds = planned.kinds
    for number in numbers:
        appenders[episode_kinds[number]](number)
    return {key: group for key, group in groups.items() if group}


def _name(planned: Orders, place: int, part: Sequence[int]) -> str:
    """Return a shard's name: its position in the study, and a hash of its size and a few of its
    episode ids."""
    sample = [part[n * (len(part) - 1) // (SEEN - 1)] for n in range(SEEN)]
    sampled_ids = f"{len(part)}" + "".join(map(planned.id, sample))
    return f"{place:05d}-{blake2b(sampled_ids.encode(), digest_size=4).hexdigest()}"


# --- parts of a shard ---


class EpisodeDurations:
    """Measured durations and numbers of remaining episodes, by kind of episode."""

    def __init__(self, slots: Callable[[], int]) -> None:
        self._slots = slots
        self._left: Counter[str] = Counter()
        self._took: dict[str, tuple[int, float]] = {}  # episodes, total seconds

    def add_waiting(self, alike: str, episodes: int) -> None:
        """Add to the number of episodes that are still to be given to a worker."""
        self._left[alike] += episodes

    def remove_waiting(self, alike: str, episodes: int) -> None:
        """Subtract from the number of episodes that are still to be given to a worker."""
        self._left[alike] -= episodes

    def record(self, alike: str, episodes: int, seconds: float) -> None:
        """Record how many seconds a number of episodes took."""
        earlier = self._took.get(alike, (0, 0.0))
        self._took[alike] = earlier[0] + episodes, earlier[1] + seconds

    def expected_seconds(self, alike: str, episodes: int) -> float:
        """Return the expected seconds of episodes; infinite if no episode was measured."""
        measured_episodes, seconds = self._took.get(alike, (0, 0.0))
        return episodes * seconds / measured_episodes if measured_episodes else inf

    def size(self, alike: str, episodes_left: int) -> int:
        """Return how many of a shard's remaining episodes a worker gets."""
        slots = self._slots()
        if slots == 1 or episodes_left <= 1:
            return episodes_left
        seconds_each = self.expected_seconds(alike, 1)
        if seconds_each == inf:
            return min(episodes_left, FIRST)
        seconds = max(self._seconds_left() / (SHARE * slots), SHORTEST_SECONDS)
        if episodes_left * seconds_each <= seconds:
            return episodes_left
        parts = ceil(
            episodes_left * seconds_each / seconds - 1e-9
        )  # tolerate rounding just above a whole number
        return max(1, round(episodes_left / parts))

    def _seconds_left(self) -> float:
        """Return the expected seconds of all episodes not yet given to workers."""
        return sum(
            n * self.expected_seconds(a, 1) for a, n in self._left.items() if a in self._took
        )
