"""Which lines of a store count: each episode once, a finished run in the place of a cut one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ID_BYTES = 24  # of an episode's id, which is a hash in hexadecimal
Ids = NDArray[np.bytes_]


def packed_ids(ids: Sequence[str]) -> Ids:
    """Ids in 24 bytes each; that of a line that holds no episode is empty."""
    return np.array(ids, dtype=f"S{ID_BYTES}")


@dataclass(frozen=True)
class Counted:
    """The lines that count, by number, in the order in which their episodes first appear."""

    lines: NDArray[np.int64]
    doubled: int  # lines of episodes that had come to their end before
    replaced: int  # cut runs that another line takes the place of


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
    doubled = int((there > done[which]).sum())
    return Counted(lines, doubled, len(there) - len(every) - doubled)


def rows_of(lines: NDArray[np.int64], many: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of some lines, where each line of a store has so many rows."""
    starts, mine = np.cumsum(many) - many, many[lines]
    within = np.arange(int(mine.sum())) - np.repeat(np.cumsum(mine) - mine, mine)
    return np.repeat(starts[lines], mine) + within
