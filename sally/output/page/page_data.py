"""Page data of a store, computed from its index columns.

Episodes are not held in memory: arrays hold a few numbers of each, and an episode is read only when
its transcript is rendered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally import store
from sally.analysis.columns.dictionary_column import Dictionary
from sally.analysis.columns.seat_table import SEATS, SeatColumns, SeatTable, SeatTableBuilder
from sally.core.log.events import Episode
from sally.core.registry.fingerprint import fingerprint
from sally.core.registry.study import Study
from sally.output.files.provenance import Provenance
from sally.output.page.lines import (
    COLUMN,
    SUM_BYTES,
    PageChunk,
    PageColumn,
    numbers_shown,
    piece_of,
    worked,
)
from sally.store import Where
from sally.store.deduplicate import counted, packed_ids, rows_of
from sally.store.index import Columns

Lines = NDArray[np.int64]


class PageData:
    """The data of a page: every episode of a store once, as columns."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self.bad: list[store.BadLine] = []
        self.unplayed: list[str] = []
        self._reader = store.Reader(where)
        collector = _Collector(self)
        names = [COLUMN, SEATS, *numbers_shown()]
        for at, found in store.columns(where, names, fingerprint(), worked):
            collector.add(at, piece_of(found[COLUMN]), found)
        collector.end()
        self.manifest: store.Manifest | None = store.manifest_of(where)
        self.studies: dict[str, Study] = store.studies(where)
        self.people: store.PeoplePlan | None = store.people_plan(where)

    # Set by _Collector: one entry per episode that counts, in the order of the store.
    ids: NDArray[np.bytes_]
    sizes: Lines
    lineups: Lines
    ends: list[str]  # causes of censoring
    end: Lines
    seats: SeatTable  # rows of the episodes that could be measured
    row_of: Lines  # row -> number of its episode
    seen: Provenance
    doubled: int
    replaced: int
    _files: list[str]
    _file: Lines
    _line: Lines
    _sums: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Episode]:
        return self.episodes(range(len(self)))

    def id(self, number: int) -> str:
        """Return the id of an episode."""
        return str(self.ids[number], "ascii")

    def episodes(self, numbers: Iterable[int]) -> Iterator[Episode]:
        """Read some episodes, one at a time."""
        for n in numbers:
            yield self._reader.episode(self._files[self._file[n]], self._line[n], self.id(n))

    def digest(self) -> str:
        """Return the SHA-256 of the hashes of all episodes, sorted by id."""
        order = np.argsort(self.ids, kind="stable")
        return sha256(self._sums[order].tobytes()).hexdigest()


class _Collector:
    """Joins the chunks of a store and selects one line for each episode."""

    def __init__(self, held: PageData) -> None:
        self._held, self._files, self._ends = held, Dictionary(), Dictionary([""])
        self._facts, self._lineups = Dictionary(), Dictionary()
        self._seats = SeatTableBuilder(numbers_shown())
        names = ("ids", "cut", "size", "end", "facts", "lineup", "sums", "keys", "file", "line",
                 "rows")  # fmt: skip
        self._columns: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
        self._unplayed: dict[int, str] = {}
        self._lines = 0

    def add(self, at: Sequence[tuple[str, int]], piece: PageChunk, found: Columns) -> None:
        """Add the log lines of a chunk and the columns of their seats."""
        every = [(facts, msgspec.msgpack.encode(facts)) for facts in piece.every_facts]
        coded = {
            "end": list(map(self._ends.code, piece.ends)),
            "facts": [self._facts.code(*both) for both in every] or [0],
            "lineup": list(map(self._lineups.code, piece.every_lineup)) or [0],
        }
        for name, codes in coded.items():
            column = np.array(codes, dtype=np.int32)[getattr(piece, name)]
            self._columns[name].append(column)
        self._put("ids", packed_ids(piece.ids))
        self._put("cut", np.array(piece.cut, dtype=np.bool_))
        self._put("size", np.array(piece.size, dtype=np.int64))
        self._put("sums", np.frombuffer(piece.sums, dtype=np.uint8).reshape(-1, SUM_BYTES))
        self._put("keys", np.frombuffer(piece.keys, dtype=np.uint64))
        self._put("file", np.array([self._files.code(file) for file, _ in at], dtype=np.int32))
        self._put("line", np.array([line for _, line in at], dtype=np.int32))
        self._put("rows", self._rows_of(piece.seats or found))
        for n, (why, unplayed) in enumerate(zip(piece.why, piece.unplayed, strict=True)):
            if why:
                self._held.bad.append(store.BadLine(*at[n], why))
            if unplayed:
                self._unplayed[self._lines + n] = unplayed
        self._lines += len(at)

    def _rows_of(self, seats: Columns) -> Lines:
        """Add the seat rows of some log lines; return the number of seats of each line."""
        return np.array(self._seats.add_rows(seats).seats, dtype=np.int64)

    def _put(self, name: str, column: NDArray[Any]) -> None:
        self._columns[name].append(column)

    def end(self) -> None:
        """Store the columns of the selected lines in the page data."""
        held = self._held
        if not self._lines:
            self.add([], PageColumn().piece(), SeatColumns((SEATS,)).columns())
        column = {name: np.concatenate(some) for name, some in self._columns.items()}
        count = counted(column["ids"], column["cut"])
        lines, rows = count.lines, column["rows"]
        held.doubled, held.replaced = count.doubled, count.replaced
        held.ids, held.sizes = column["ids"][lines], column["size"][lines]
        held.ends, held.end = self._ends.values, column["end"][lines]
        held.lineups = column["lineup"][lines]
        held._files = self._files.values
        held._file, held._line = column["file"][lines], column["line"][lines]
        held._sums = column["sums"][lines]
        counts = set(lines.tolist()) if self._unplayed else set()
        held.unplayed = [why for n, why in self._unplayed.items() if n in counts]
        held.row_of = np.repeat(np.arange(len(lines)), rows[lines])
        held.seats = self._seats.chosen(rows_of(lines, rows), Counter())
        held.seen = self._provenance(column["facts"][lines], column["keys"][lines])

    def _provenance(self, facts: Lines, keys: NDArray[np.uint64]) -> Provenance:
        """Return the provenance of the episodes: games, versions, models, results. Episodes that
        are alike in all these facts are counted together."""
        seen = Provenance()
        codes, first = np.unique(facts, return_index=True)
        order = np.argsort(facts, kind="stable")
        ends = np.searchsorted(facts[order], codes, side="right")
        begins = np.searchsorted(facts[order], codes, side="left")
        for n in np.argsort(first, kind="stable").tolist():
            mine = order[begins[n] : ends[n]]
            facts_there = self._facts.values[codes[n]]
            seen.count(facts_there, len(mine))
            seen.count_keys(facts_there, keys[mine])
        return seen
