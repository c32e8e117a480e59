"""A snapshot of a store, read one episode at a time to use little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from tempfile import TemporaryFile
from types import TracebackType

import msgspec

from sally import store
from sally.core.log.events import Episode, from_line, to_line
from sally.core.registry.study import Study
from sally.store import Where


class Spot(msgspec.Struct, frozen=True):
    """The position of an episode's line in the temporary copy of a store."""

    offset: int
    size: int
    cut: bool  # whether a resumed study would run it again


class Snapshot:
    """A copy of a store's lines in a temporary file, with their positions in memory.

    As when a store is loaded, a finished run of an episode replaces a censored one.
    """

    def __init__(self, where: Where) -> None:
        self.where = where
        self.spots: dict[str, Spot] = {}
        self.bad: list[store.BadLine] = []
        self.doubled = self.replaced = 0
        self._copy = TemporaryFile()  # noqa: SIM115  closed by `close`
        try:
            end = 0
            for found in store.read(where, quarantine=False):
                if isinstance(found, store.BadLine):
                    self.bad.append(found)
                else:
                    end += self._keep(found, end)
            self.manifest: store.Manifest | None = store.manifest_of(where)
            self.studies: dict[str, Study] = store.studies(where)
            self.people: store.PeoplePlan | None = store.people_plan(where)
        except BaseException:
            self.close()
            raise

    def _keep(self, episode: Episode, offset: int) -> int:
        """Copy an episode unless it has been copied already; return the bytes written."""
        there = self.spots.get(episode.id)
        if there is not None and not there.cut:
            self.doubled += 1
            return 0
        self.replaced += there is not None
        line = to_line(episode)
        self._copy.write(line)
        self.spots[episode.id] = Spot(offset, len(line), store.to_run_again(episode))
        return len(line)

    def __len__(self) -> int:
        return len(self.spots)

    def __iter__(self) -> Iterator[Episode]:
        return self.episodes(self.spots)

    def episodes(self, ids: Iterable[str]) -> Iterator[Episode]:
        """Yield the episodes with these ids, in the order of the ids."""
        return map(from_line, self.lines(ids))

    def lines(self, ids: Iterable[str]) -> Iterator[bytes]:
        """Yield the lines of the episodes with these ids, in the order of the ids."""
        for id in ids:
            spot = self.spots[id]
            self._copy.seek(spot.offset)
            yield self._copy.read(spot.size)

    def digest(self) -> str:
        """Return the SHA-256 of all episodes in the order of their ids."""
        found = sha256()
        for line in self.lines(sorted(self.spots)):
            found.update(line)
        return found.hexdigest()

    def close(self) -> None:
        """Delete the copy."""
        self._copy.close()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
