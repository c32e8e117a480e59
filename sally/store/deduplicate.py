"""Deduplication of lines: each episode counts once, and a finished episode replaces a censored
one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ID_BYTES = 24  # length of an episode id, a hexadecimal hash
Ids = NDArray[np.bytes_]


def packed_ids(ids: Sequence[str]) -> Ids:
    """Return ids as an array of 24-byte strings; the id of an unreadable line is empty."""
    return np.array(ids, dtype=f"S{ID_BYTES}")


class IdSet(Set[str]):
    """A set of ids stored as a sorted array, 24 bytes per id."""

    def __init__(self, ids: Ids) -> None:
        self._ids = np.sort(ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return (str(id, "ascii") for id in self._ids.tolist())

    def __contains__(self, id: object) -> bool:
        return bool(self.have(packed_ids([str(id)]))[0])

    def have(self, ids: Ids) -> NDArray[np.bool_]:
        """Return, for each given id, whether the set contains it."""
        if not len(self._ids):
            return np.zeros(len(ids), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        found: NDArray[np.bool_] = self._ids[places] == ids
        return found

    @classmethod
    def _from_iterable(cls, found: Iterable[str]) -> IdSet:  # type: ignore[override]
        return cls(packed_ids(list(found)))


@dataclass(frozen=True)
class DeduplicatedLines:
    """The one line that is used for each episode, in the order in which the episodes first
    appear."""

    lines: NDArray[np.int64]
    again: NDArray[np.int64]  # further finished lines of finished episodes
    replaced: int  # censored runs replaced by another line

    @property
    def doubled(self) -> int:
        return len(self.again)


def counted(ids: Ids, cut: NDArray[np.bool_]) -> DeduplicatedLines:
    """Return, for each episode, its first uncensored line, or its last line if all are censored."""
    there = np.flatnonzero(ids != b"")
    every, first, which = np.unique(ids[there], return_index=True, return_inverse=True)
    whole = ~cut[there]
    done = np.full(len(every), len(ids), dtype=np.int64)
    np.minimum.at(done, which[whole], there[whole])
    last = np.full(len(every), -1, dtype=np.int64)
    np.maximum.at(last, which[~whole], there[~whole])
    lines = np.where(done < len(ids), done, last)[np.argsort(first, kind="stable")]
    again = there[whole & (there > done[which])]
    return DeduplicatedLines(lines, again, len(there) - len(every) - len(again))


def rows_of(lines: NDArray[np.int64], many: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row numbers of some lines, given the number of rows per line."""
    starts, mine = np.cumsum(many) - many, many[lines]
    within = np.arange(int(mine.sum())) - np.repeat(np.cumsum(mine) - mine, mine)
    return np.repeat(starts[lines], mine) + within


class Deduplicator:
    """Collects the episode ids of a store's lines, batch by batch, and selects one line for each
    episode."""

    def __init__(self) -> None:
        self._ids, self._cut = [packed_ids([])], [np.array([], dtype=np.bool_)]

    def add(self, ids: Sequence[str], cut: Sequence[bool]) -> None:
        """Add a batch of lines: their episode ids, and whether each is censored."""
        self._ids.append(packed_ids(ids))
        self._cut.append(np.array(cut, dtype=np.bool_))

    def counted(self) -> tuple[DeduplicatedLines, NDArray[np.bool_]]:
        """Return the one line that is used for each episode, and a mask of the censored lines."""
        self._ids, self._cut = [np.concatenate(self._ids)], [np.concatenate(self._cut)]
        return counted(self._ids[0], self._cut[0]), self._cut[0]

    def finished(self) -> IdSet:
        """Return the ids of finished episodes, which need not be run again."""
        count, cut = self.counted()
        return IdSet(self._ids[0][count.lines[~cut[count.lines]]])


def which_are_there(finished: Set[str], ids: bytes) -> list[bool]:
    """Return, for each of these binary episode ids (12 bytes each), whether `finished` contains
    it."""
    hexed = np.frombuffer(ids.hex().encode(), dtype=f"S{ID_BYTES}")
    if not isinstance(finished, IdSet):
        finished = IdSet(packed_ids(list(finished)))
    there: list[bool] = finished.have(hexed).tolist()
    return there
