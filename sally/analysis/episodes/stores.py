"""Episodes and measured seats of stores, read line by line to use little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np

from sally import store
from sally.analysis.columns.measured_table import (
    MeasuredChunk,
    MeasuredColumn,
    MeasuredTable,
    MeasuredTableBuilder,
    column,
)
from sally.analysis.columns.replayed_rows import replayed_columns
from sally.analysis.columns.rows import played
from sally.core.log.events import Episode
from sally.core.registry.fingerprint import fingerprint
from sally.core.rules.metric import Played
from sally.store.deduplicate import Deduplicator, rows_of
from sally.store.index import Columns, Line


def each_once(
    folders: Sequence[store.Where], bad: Callable[[str], None] | None = None
) -> Iterator[Episode]:
    """Yield the episodes of some stores without duplicates; finished copies replace censored ones.

    Censored episodes come last, when it is known that there is no finished copy. `bad` is called
    with the description of each line that holds no episode.
    """
    seen: set[str] = set()
    cut: dict[str, Episode] = {}
    for folder in folders:
        for line in store.read(folder):
            if not isinstance(line, Episode):
                if bad is not None:
                    bad(str(line))
            elif store.to_run_again(line):
                cut[line.id] = line
            elif line.id not in seen:
                seen.add(line.id)
                yield line
    yield from (episode for id, episode in cut.items() if id not in seen)


def episodes_in(where: store.Where, game: str, quarantine: bool = True) -> list[Episode]:
    """Return the episodes of one game in a store; unreadable lines are copied to its quarantine,
    unless `quarantine` is false."""
    episodes = store.load(where, quarantine).episodes.values()
    return [episode for episode in episodes if episode.setup.instance.game == game]


def games_in(where: store.Where, game: str, quarantine: bool = True) -> Iterator[Played]:
    """Yield the episodes of one game in a store, each replayed only when it is reached, so that
    not all replays are in memory at once. `quarantine` is that of `episodes_in`."""
    yield from map(played, episodes_in(where, game, quarantine))


class Stores(msgspec.Struct, frozen=True):
    """The measured seats of all episodes in some stores, and the lines without an episode."""

    measured: MeasuredTable
    episodes: int
    seats: frozenset[str]  # that were occupied
    bad: tuple[str, ...]


def measured_stores(
    folders: Sequence[store.Where],
    seat: str = "",
    watch: Callable[[int], None] | None = None,
    playable: bool = False,
) -> Stores:
    """Measure the named seat, or the studied seats, of every episode in some stores.

    Raises:
        BadInput: If the rules of an episode are not installed, unless `playable`.
    """
    every, rows, many = Deduplicator(), MeasuredTableBuilder(), list[int]()
    sat: dict[tuple[str, ...], int] = {}
    which, bad = list[int](), list[str]()
    for folder in folders:
        files: dict[str, None] = {}
        for at, piece in measured_pieces(folder, seat, playable):
            every.add(piece.ids, piece.cut)
            rows.add(piece)
            many += piece.rows
            places = [sat.setdefault(each, len(sat)) for each in piece.sats]
            which += [places[n] for n in piece.sat]
            for (file, line), id, why in zip(at, piece.ids, piece.why, strict=True):
                if not id:
                    bad.append(str(store.BadLine(file, line, why)))
                    files[file] = None
            if watch:
                watch(len(many))
        store.quarantine_lines(store.place(folder), files)
    lines = every.counted()[0].lines
    counts, seats = np.array(many, dtype=np.int64), list(sat)
    order, found = rows_of(lines, counts), rows.table()
    if not np.array_equal(order, np.arange(len(found))):
        found = found.take(order)
    there = {seats[n] for n in set(np.array(which, dtype=np.int64)[lines].tolist())}
    return Stores(found, len(lines), frozenset(s for some in there for s in some), tuple(bad))


def measured_pieces(
    where: store.Where, seat: str, playable: bool
) -> Iterator[tuple[list[tuple[str, int]], MeasuredChunk]]:
    """Yield chunks of a store: the positions of the lines, and the measured seats on these
    lines."""
    name = column(seat, playable)

    def work(lines: Sequence[Line], names: Sequence[str]) -> Columns:
        return replayed_columns(lines, [MeasuredColumn(seat, playable)], playable)

    for at, found in store.columns(where, [name], fingerprint(), work):
        yield at, _DECODER.decode(found[name])


_DECODER = msgspec.msgpack.Decoder(MeasuredChunk)
