"""A snapshot of a store, read one episode at a time to use little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from sally import store
from sally.core.log.events import Episode, from_line, to_line
from sally.store import Where


class LinePosition(msgspec.Struct, frozen=True):
    """The position of an episode's line in the temporary copy of a store."""

    offset: int
    size: int
    cut: bool  # whether a resumed study would run it again


class Snapshot:
    """A copy of a store's lines in a temporary file, with their positions in memory.

    Each episode is there once: a finished run replaces a censored one.
    """

    def __init__(self, source: Where, copy: BinaryIO) -> None:
        """Copy the lines of a store into an empty file, which stays open while lines are read."""
        self.spots: dict[str, LinePosition] = {}
        self.bad: list[store.BadLine] = []
        self.doubled = self.replaced = 0
        self._copy, end = copy, 0
        for line in store.read(source, quarantine=False):
            if isinstance(line, store.BadLine):
                self.bad.append(line)
            else:
                end += self._keep(line, end)
        self.manifest = store.manifest_of(source)

    def _keep(self, episode: Episode, offset: int) -> int:
        """Copy an episode unless it has been copied already; return the bytes written."""
        copied = self.spots.get(episode.id)
        if copied is not None and not copied.cut:
            self.doubled += 1
            return 0
        self.replaced += copied is not None
        line = to_line(episode)
        self._copy.write(line)
        self.spots[episode.id] = LinePosition(offset, len(line), store.to_run_again(episode))
        return len(line)

    def __len__(self) -> int:
        return len(self.spots)

    def __iter__(self) -> Iterator[Episode]:
        return map(from_line, self.lines(self.spots))

    def lines(self, ids: Iterable[str]) -> Iterator[bytes]:
        """Yield the lines of the episodes with these ids, in the order of the ids."""
        for id in ids:
            spot = self.spots[id]
            self._copy.seek(spot.offset)
            yield self._copy.read(spot.size)
