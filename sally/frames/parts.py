"""Episodes from one place: the lines of one writer of a store, or memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import polars as pl

from sally import store
from sally.core.log.events import Episode, to_line
from sally.frames import cache
from sally.frames.build import EPISODES, METRICS, SEATS, build, build_episodes
from sally.frames.parallel import Job
from sally.store import Folder, Place


class Part(Protocol):
    """Episodes from one place: a file of a store, or memory."""

    def table(self, name: str, columns: Sequence[str]) -> pl.LazyFrame: ...

    def columns(self, name: str) -> Collection[str]: ...

    def episode(self, row: int, start: int, size: int) -> Episode | None: ...

    def lines(self) -> Iterator[tuple[int, bytes]]: ...


class Memory:
    """Episodes in memory."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self._episodes = episodes
        self._tables: dict[str, pl.DataFrame] = {}

    def table(self, name: str, columns: Sequence[str]) -> pl.LazyFrame:
        stored = self._tables.get(name)
        missing = [c for c in columns if stored is None or c not in stored.columns]
        if missing:
            metrics = missing if name == METRICS else ()
            basic = [table for table in (EPISODES, SEATS) if table not in self._tables]
            tables = build_episodes(self._episodes, {*basic, name}, metrics)
            if stored is not None:
                tables[name] = stored.with_columns(tables[name])
            self._tables |= tables
        return self._tables[name].lazy().select(columns)

    def columns(self, name: str) -> Collection[str]:
        return self._tables[name].columns

    def episode(self, row: int, start: int, size: int) -> Episode | None:
        return self._episodes[row]

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered episodes, encoded as they would be stored."""
        for number, episode in enumerate(self._episodes):
            yield number, to_line(episode)


class File:
    """The lines of one writer of a store."""

    def __init__(self, place: Place, names: Sequence[str], digest: str) -> None:
        self._place, self.names, self._digest = place, names, digest  # empty: cannot be cached
        self._tables: dict[str, pl.DataFrame] = {}  # those that are not on disk

    @property
    def size(self) -> int:
        """Bytes of the file; 0 in a remote store."""
        if not isinstance(self._place, Folder):
            return 0
        return sum((self._place.path / name).stat().st_size for name in self.names)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered lines."""
        for _, number, line in store.all_lines(self._place, self.names):
            yield number, line

    def table(self, name: str, columns: Sequence[str]) -> pl.LazyFrame:
        if self.lacks(name, columns):
            self.measure(name, columns)
        stored = self._tables.get(name)
        if stored is not None and set(columns) <= set(stored.columns):
            return stored.lazy().select(columns)
        return cache.scan(self._digest, name, columns)

    def columns(self, name: str) -> Collection[str]:
        stored = self._tables.get(name)
        return cache.columns(self._digest, name) if stored is None else stored.columns

    def lacks(self, name: str, columns: Sequence[str]) -> bool:
        """Return whether a table has to be built."""
        stored = self._tables.get(name)
        if stored is not None and (name != METRICS or set(columns) <= set(stored.columns)):
            return False
        return not (self._digest and cache.has(self._digest, name, columns))

    def measure(self, name: str, columns: Sequence[str]) -> None:
        """Build a table; keep it on disk if its code has a fingerprint."""
        metrics = columns if name == METRICS else ()
        basic = [table for table in (EPISODES, SEATS) if self.lacks(table, ())]
        tables = build(self.lines(), {*basic, name}, metrics)
        games = tables.get(EPISODES, self._tables.get(EPISODES))
        if games is None:
            games = cache.scan(self._digest, EPISODES, ["game"]).collect()
        is_kept = self._digest and not cache.in_memory_only(games["game"].unique().drop_nulls())
        if is_kept and len(cache.cacheable(metrics)) == len(metrics):
            cache.write(self._digest, tables)
            if not self.lacks(name, columns):
                return
        stored = self._tables.get(name)
        if name == METRICS and stored is not None:
            tables[name] = stored.with_columns(tables[name])
        self._tables |= tables

    def job(self, name: str, columns: Sequence[str], uses: tuple[str, ...]) -> Job | None:
        """Return the job of another process that builds a table; None if only this one can."""
        if not self._digest or not isinstance(self._place, Folder):
            return None
        folder = str(self._place.path.resolve())
        return Job(folder, tuple(self.names), self._digest, name, tuple(columns), uses)

    def forget(self, name: str) -> None:
        """Delete a damaged table from the disk."""
        cache.path_of(self._digest, name).unlink(missing_ok=True)

    def episode(self, row: int, start: int, size: int) -> Episode | None:
        """Read the episode of a row again; None if its line was changed."""
        if isinstance(self._place, Folder):
            with store.open_lines(self._place.path / self.names[0]) as file:
                file.seek(start)
                text = file.read(size)
        else:
            text = next((text for n, (_, text) in enumerate(self.lines()) if n == row), b"")
        episode = store.sound_line(text)
        return None if isinstance(episode, str) else episode
