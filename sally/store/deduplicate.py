"""Which lines of a store count: each episode once, a finished run in the place of a cut one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ID_BYTES = 24  # of an episode's id, which is a hash in hexadecimal
Ids = NDArray[np.bytes_]


def packed_ids(ids: Sequence[str]) -> Ids:
    """Ids in 24 bytes each; that of a line that holds no episode is empty."""
    return np.array(ids, dtype=f"S{ID_BYTES}")


class IdSet(Set[str]):
    """Ids in 24 bytes each, sorted: a million of them take as many bytes and no objects."""

    def __init__(self, ids: Ids) -> None:
        self._ids = np.sort(ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return (str(id, "ascii") for id in self._ids.tolist())

    def __contains__(self, id: object) -> bool:
        return bool(self.have(packed_ids([str(id)]))[0])

    def have(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of some ids are among these."""
        if not len(self._ids):
            return np.zeros(len(ids), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        found: NDArray[np.bool_] = self._ids[places] == ids
        return found

    @classmethod
    def _from_iterable(cls, found: Iterable[str]) -> IdSet:  # type: ignore[override]
        return cls(packed_ids(list(found)))


@dataclass(frozen=True)
class Counted:
    """The lines that count, by number, in the order in which their episodes first appear."""

    lines: NDArray[np.int64]
    again: NDArray[np.int64]  # lines of episodes that had come to their end before
    replaced: int  # cut runs that another line takes the place of

    @property
    def doubled(self) -> int:
        return len(self.again)


def counted(ids: Ids, cut: NDArray[np.bool_]) -> Counted:
    """Of each episode the first line that is not cut, or the last one if all are."""
    there = np.flatnonzero(ids != b"")
    every, first, which = np.unique(ids[there], return_index=True, return_inverse=True)
    whole = ~cut[there]
    done = np.full(len(every), len(ids), dtype=np.int64)
    np.minimum.at(done, which[whole], there[whole])
    last = np.full(len(every), -1, dtype=np.int64)
    np.maximum.at(last, which[~whole], there[~whole])
    lines = np.where(done < len(ids), done, last)[np.argsort(first, kind="stable")]
    again = there[there > done[which]]
    return Counted(lines, again, len(there) - len(every) - len(again))


def rows_of(lines: NDArray[np.int64], many: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of some lines, where each line of a store has so many rows."""
    starts, mine = np.cumsum(many) - many, many[lines]
    within = np.arange(int(mine.sum())) - np.repeat(np.cumsum(mine) - mine, mine)
    return np.repeat(starts[lines], mine) + within


class Gathering:
    """The lines of a store, piece by piece, and then those that count."""

    def __init__(self) -> None:
        self._ids, self._cut = [packed_ids([])], [np.array([], dtype=np.bool_)]

    def add(self, ids: Sequence[str], cut: Sequence[bool]) -> None:
        """Take the lines of a piece."""
        self._ids.append(packed_ids(ids))
        self._cut.append(np.array(cut, dtype=np.bool_))

    def counted(self) -> tuple[Counted, NDArray[np.bool_]]:
        """The lines that count, and of all lines whether they were cut."""
        self._ids, self._cut = [np.concatenate(self._ids)], [np.concatenate(self._cut)]
        return counted(self._ids[0], self._cut[0]), self._cut[0]

    def finished(self) -> IdSet:
        """The ids of those that need not be run again."""
        count, cut = self.counted()
        return IdSet(self._ids[0][count.lines[~cut[count.lines]]])


def which_are_there(finished: Set[str], ids: bytes) -> list[bool]:
    """Of some ids, twelve bytes each, which are among these."""
    hexed = np.frombuffer(ids.hex().encode(), dtype=f"S{ID_BYTES}")
    if not isinstance(finished, IdSet):
        finished = IdSet(packed_ids(list(finished)))
    there: list[bool] = finished.have(hexed).tolist()
    return there
