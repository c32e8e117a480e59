"""The index column that the results page reads: data from each log line, in addition to the seat
metrics."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from sally import store
from sally.analysis.columns.dictionary_column import Dictionary
from sally.analysis.columns.replayed_rows import replayed_columns
from sally.analysis.columns.rows import played
from sally.analysis.columns.seat_table import SEATS, SeatColumns
from sally.core.errors import BadInput
from sally.core.log.events import Episode, to_line
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.output.files.provenance import Facts, facts_of, key_of, trial_key
from sally.store.index import Columns, Line

COLUMN = "page"
SUM_BYTES = 16
COUNTS = ("payoff", "turns", "forfeited")


class PageChunk(msgspec.Struct, array_like=True):
    """Data for the results page from a chunk of log lines; an unreadable line has an empty id."""

    ids: list[str]
    cut: list[bool]
    why: list[str]  # why a line is unreadable
    unplayed: list[str]  # why an episode could not be measured
    size: list[int]
    end: list[int]
    facts: list[int]
    lineup: list[int]
    sums: bytes  # hashes of the episodes
    keys: bytes  # keys of their trials
    ends: list[str]  # causes of censoring; the first is empty
    every_facts: list[Facts]
    every_lineup: list[bytes]  # cell and lineup
    seats: dict[str, bytes]  # seat columns, if some episodes could not be measured


_DECODER = msgspec.msgpack.Decoder(PageChunk)


def piece_of(column: bytes) -> PageChunk:
    """Decode the index column that the results page reads."""
    return _DECODER.decode(column)


def numbers_shown() -> tuple[str, ...]:
    """Return the names of all seat metrics that a page may show."""
    return tuple(dict.fromkeys((*registry.entries("metrics"), *COUNTS)))


class PageColumn:
    """Builder of the index column that the results page reads, one log line at a time."""

    def __init__(self) -> None:
        self._made = PageChunk([], [], [], [], [], [], [], [], b"", b"", [], [], [], {})
        self._ends, self._facts, self._lineups = Dictionary([""]), Dictionary(), Dictionary()
        self._sums, self._keys = bytearray(), array("Q")
        self._companies: dict[bytes, str] = {}

    def add(self, found: Episode | str, whole: Played | None = None, unplayed: str = "") -> None:
        """Add an episode, or the reason why a line is unreadable."""
        if isinstance(found, str):
            self._note("", False, found, "", 0, 0, 0, 0)
            self._sums += bytes(SUM_BYTES)
            self._keys.append(0)
            return
        line, facts = to_line(found), facts_of(found)
        asked = msgspec.msgpack.encode((found.cell, found.setup.lineup))
        self._note(
            found.id,
            store.to_run_again(found),
            "",
            unplayed,
            len(line),
            self._ends.code(facts.end * (facts.end != "over")),
            self._facts.code(facts, msgspec.msgpack.encode(facts)),
            self._lineups.code(asked),
        )
        self._sums += blake2b(line, digest_size=SUM_BYTES).digest()
        self._keys.append(key_of(trial_key(found.setup, self._companies)))

    def _note(self, *given: Any) -> None:
        made = self._made
        columns = (made.ids, made.cut, made.why, made.unplayed, made.size, made.end, made.facts,
                   made.lineup)  # fmt: skip
        for column, value in zip(columns, given, strict=True):
            column.append(value)  # type: ignore[attr-defined]

    def piece(self, seats: Columns | None = None) -> PageChunk:
        """Return the data added so far. `seats` holds the figures of the episodes' seats if only
        the results page uses them; otherwise they are stored in columns of their own."""
        return msgspec.structs.replace(
            self._made,
            sums=bytes(self._sums),
            keys=self._keys.tobytes(),
            ends=self._ends.values,
            every_facts=self._facts.values,
            every_lineup=self._lineups.values,
            seats=dict(seats or {}),
        )

    def columns(self) -> Columns:
        """Return the column as stored in the index."""
        return {COLUMN: msgspec.msgpack.encode(self.piece())}


def worked(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    """Compute, for some log lines, the column that the page reads and the columns of their
    seats."""
    seats = [name for name in names if name != COLUMN]
    try:
        return replayed_columns(lines, [PageColumn(), *([SeatColumns(seats)] if seats else ())])
    except BadInput:
        return _compute_separately(lines)


def _compute_separately(lines: Sequence[Line]) -> Columns:
    """Return the column that the results page reads, for log lines that include episodes that
    cannot be measured.

    Usually the figures of the seats have columns of their own, which the page shares with `sally
    score`. Because `sally score` refuses a store with such lines, the figures are stored as a part
    of the page's column instead.
    """
    page, seats = PageColumn(), SeatColumns((SEATS, *numbers_shown()))
    for _, _, line in lines:
        found = store.sound_line(line)
        unplayed = ""
        try:
            seats.add(found, played(found) if isinstance(found, Episode) else None)
        except BadInput as why:
            unplayed = str(why)
            seats.add(unplayed, None)
        page.add(found, None, unplayed)
    there = {name: data for name, data in seats.columns().items() if data}
    return {COLUMN: msgspec.msgpack.encode(page.piece(there))}
