"""Episodes as tables, from stores, bundles or memory; the source of every analysis and output.

A `Frame` counts each stored episode once: a finished line replaces a censored one. Columns are
read when they are asked for, so that a store of a million episodes fits into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally import store
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode, Setup
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.core.rules.metric import Metric
from sally.frames import cache
from sally.frames.build import (
    EPISODES,
    METRICS,
    PROFILES,
    SEATS,
    columns_of,
    schema_of,
)
from sally.frames.labels import Factors, declared_factors, factors_in_name
from sally.frames.parallel import fill_in_parallel
from sally.frames.parts import File, Memory, Part
from sally.frames.rows import setup_of
from sally.frames.schema import EXPORTED_SEAT, SUMS
from sally.store import Folder, Place, Remote, Where
from sally.store.bundles import is_bundle, unpack

Watch = Callable[[int, int], None]  # (files with tables, files in all)
Rows = NDArray[np.int64]
OF_EPISODE = frozenset(column.field for column in columns_of(EPISODES))
OF_SEAT = frozenset(column.field for column in columns_of(SEATS))
# Fields of episodes that are always in memory; the others are read if they are asked for.
HELD = ("episode", "cell", "game", "instance", "setup", "repeat", "why", "cut", "bad", "unplayed",
        "line", "start", "size")  # fmt: skip
NUMBER_FIELD = "number"  # number of the episode in `Frame.episodes`
EVERY_FIELD = (*EXPORTED_SEAT, "name", "person", "studied")
PARALLEL_BYTES = 16_000_000  # lines without tables from which on several processes build them


class Frame:
    """Episodes as tables, each stored episode once; episodes in memory all count.

    Attributes:
        stores: The stores behind the frame; bundles are unpacked in a temporary folder.
        sources: The stores and bundles as they were named.
        bad: The lines that hold no episode, with file and reason.
        doubled: Finished lines of episodes that another line had finished before.
        replaced: Censored lines that another line replaced.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        stores: Sequence[Where] = (),
        *,
        watch: Watch | None = None,
        temporary: Sequence[TemporaryDirectory[str]] = (),
        studies: Sequence[Study] = (),
    ) -> None:
        self.stores = tuple(stores)
        self.sources: tuple[Where, ...] = self.stores
        self._studies = studies
        self._factors: dict[str, Factors] = {}  # by cell, when it was first asked for
        self._parts, self._watch, self._temporary = parts, watch, temporary
        tables = self._collect(EPISODES, HELD)
        heights = [table.height for table in tables]
        self._offsets = np.concatenate([[0], np.cumsum(heights)]).astype(np.int64)
        lines = pl.concat(tables) if tables else _empty(EPISODES, HELD)
        self.bad = self._unreadable(lines)
        stored = sum(h for h, p in zip(heights, parts, strict=True) if isinstance(p, File))
        counted, self.doubled, self.replaced = _count_lines(lines[:stored])
        counted = np.concatenate([counted, np.arange(stored, lines.height)])  # those in memory
        self._rows: Rows = counted  # the row of each episode among all lines
        self.episodes = lines[counted] if len(counted) < lines.height else lines

    # --- tables -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.episodes.height

    def seats(self, *columns: str) -> pl.DataFrame:
        """Return one row per seat of each episode.

        Args:
            *columns: Fields of seats and episodes, and names of metrics; none: all fields.

        Raises:
            BadInput: If a column is unknown, or an episode cannot be replayed here.
        """
        self.require_playable()
        columns = columns or EVERY_FIELD
        fields = [name for name in columns if name in OF_SEAT]
        known_fields = OF_EPISODE | OF_SEAT | {NUMBER_FIELD}
        of_episode = [name for name in columns if name in known_fields - OF_SEAT]
        metrics = [name for name in columns if name not in known_fields]
        if elsewhere := set(metrics) - set(self.metrics()):
            metrics_by_name = registry.entries("metrics")
            for name in elsewhere - set(metrics_by_name):
                raise unknown("metric or column of seats", name, {*known_fields, *metrics_by_name})
        return self._table(SEATS, fields, of_episode, metrics).select(columns)

    def export_rows(self) -> pl.DataFrame:
        """Return one row per seat of each episode, with every metric of its game."""
        return self.seats(*EXPORTED_SEAT, *self.metrics())

    def setups(self) -> Iterator[Setup]:
        """Yield the distinct setups, without seeds and repeats."""
        return map(setup_of, self.episodes["setup"].unique(maintain_order=True).drop_nulls())

    def metrics(self) -> dict[str, Metric]:
        """Return the metrics that fit the games of the episodes, by name."""
        metrics: dict[str, Metric] = {}
        for game in self.episodes["game"].unique(maintain_order=True).drop_nulls():
            spec = registry.game(game)
            metrics |= registry.metrics(spec.family or spec.name)
        return metrics

    def factors(self, cell: str) -> Factors:
        """Return the factors of a cell, such as its arm, by name.

        Raises:
            BadInput: If studies declare different factors for cells of this name.
        """
        if cell not in self._factors:
            if not self._factors:
                stored = (study for place in self.stores for study in store.studies(place).values())
                self._factors |= declared_factors([*self._studies, *stored])
            self._factors.setdefault(cell, factors_in_name(cell))
        return self._factors[cell]

    def prepare(self, metrics: Sequence[str]) -> None:
        """Measure all of these metrics at once, so that they can be read one by one."""
        self._fill(METRICS, [name for name in metrics if name not in OF_EPISODE | OF_SEAT])

    def profiles(
        self, seat: str = "", select: Callable[[pl.DataFrame], Collection[str]] | None = None
    ) -> pl.DataFrame:
        """Return the sums of the studied seats, or of one seat, for their profiles.

        Sums that are 0 in every row are left out.

        Args:
            seat: The seat to measure; by default the studied ones.
            select: Return the kinds of seats to read, given the columns `kind` and `asked` of all;
                by default all kinds are read.
        """
        self.require_playable()
        name = f"{PROFILES} {seat}".strip()
        fields = [column.field for column in columns_of(PROFILES) if column.field != "row"]
        self._fill(name, fields)
        nonzero = {field for part in self._parts for field in part.columns(name)}
        fields = [field for field in fields if field in nonzero or field not in SUMS]
        condition = None
        if select is not None:
            kinds = select(self._sums(name, [f for f in ("kind", "asked") if f in fields], []))
            names = pl.Series(list(kinds), dtype=pl.Categorical())
            condition = pl.col("kind").is_in(names.implode())
        return self._sums(name, fields, ["instance", "repeat", "seed"], condition)

    def _sums(
        self,
        name: str,
        fields: Sequence[str],
        of_episode: Sequence[str],
        condition: pl.Expr | None = None,
    ) -> pl.DataFrame:
        sums = [field for field in fields if field in SUMS]
        table = self._table(name, fields, of_episode, condition=condition)
        return table.with_columns(pl.col(sums).fill_null(0.0)) if sums else table

    def decisions(self) -> pl.DataFrame:
        """Return one row per move, forfeit and report."""
        return self._full_table("decisions")

    def calls(self) -> pl.DataFrame:
        """Return one row per model call."""
        return self._full_table("calls")

    def _full_table(self, name: str) -> pl.DataFrame:
        self.require_playable()
        fields = [column.field for column in columns_of(name) if column.field != "row"]
        return self._table(name, fields, ["episode", "cell", "game", "instance", NUMBER_FIELD])

    def column(self, field: str) -> pl.Series:
        """Return one column of episodes, including those that are read only when asked for."""
        if field in self.episodes.columns:
            return self.episodes[field]
        tables = self._collect(EPISODES, [field]) or [_empty(EPISODES, [field])]
        return pl.concat(tables)[field].gather(self._rows)

    def filter(self, condition: pl.Expr) -> Frame:
        """Return the frame of the episodes that meet a condition on the columns of `episodes`."""
        return self.take(np.flatnonzero(self.episodes.select(condition).to_series().to_numpy()))

    def take(self, numbers: Rows) -> Frame:
        """Return the frame of some episodes, by their numbers in `episodes`."""
        part = object.__new__(Frame)
        part.__dict__.update(self.__dict__)
        part.episodes, part._rows = self.episodes[numbers], self._rows[numbers]
        return part

    def parts(self) -> Iterator[Frame]:
        """Yield the episodes of each file of a store as a frame of its own."""
        bounds = zip(self._offsets, self._offsets[1:], strict=False)
        for part, (start, end) in zip(self._parts, bounds, strict=True):
            numbers = np.flatnonzero((self._rows >= start) & (self._rows < end))
            if len(numbers):
                frame = self.take(numbers)
                frame._parts, frame._rows = [part], frame._rows - start
                frame._offsets = np.array([0, end - start])
                yield frame

    def require_playable(self) -> None:
        """Raise BadInput if an episode cannot be replayed here."""
        if (reason := next(iter(self.unplayed), None)) is not None:
            raise BadInput(reason)

    @property
    def unplayed(self) -> list[str]:
        """Why episodes cannot be replayed here, one reason per episode."""
        return self.episodes.filter(pl.col("unplayed") != "")["unplayed"].to_list()

    def playable(self) -> Frame:
        """Return the frame of the episodes that can be replayed here."""
        return self.filter(pl.col("unplayed") == "") if self.unplayed else self

    # --- episodes ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Episode]:
        return map(self.episode, range(len(self)))

    def episode(self, number: int) -> Episode:
        """Read one episode by its number in `episodes`."""
        row = int(self._rows[number])
        part = int(np.searchsorted(self._offsets, row, side="right")) - 1
        place = self.episodes.row(number, named=True)
        part_row = row - int(self._offsets[part])
        episode = self._parts[part].episode(part_row, place["start"], place["size"])
        if episode is None or episode.id != place["episode"]:
            raise BadInput(
                f"Line {place['line']} of the store was changed after the store was read; read it "
                "again."
            )
        return episode

    def episode_by_id(self, id: str) -> Episode:
        """Read the episode with an id.

        Raises:
            KeyError: If there is no such episode.
        """
        numbers = self.episodes["episode"].eq(id).arg_true()
        if not len(numbers):
            raise KeyError(id)
        return self.episode(int(numbers[0]))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the line of each episode, as it is or would be stored."""
        numbers = np.full(int(self._offsets[-1]), -1)
        numbers[self._rows] = np.arange(len(self._rows))
        bounds = zip(self._offsets, self._offsets[1:], strict=False)
        for part, (start, end) in zip(self._parts, bounds, strict=True):
            for number, (_, line) in zip(numbers[start:end], part.lines(), strict=False):
                if number >= 0:
                    yield int(number), line

    # --- reading ----------------------------------------------------------------------------------

    def _table(
        self,
        name: str,
        fields: Sequence[str],
        of_episode: Sequence[str],
        metrics: Sequence[str] = (),
        condition: pl.Expr | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a table that belong to these episodes (without metrics: those that
        meet a condition), with columns of episodes."""
        tables = self._collect(name, ["row", *fields], condition)
        rows = np.concatenate(
            [
                table["row"].to_numpy().astype(np.int64) + offset
                for table, offset in zip(tables, self._offsets, strict=False)
            ]
            or [np.array([], dtype=np.int64)]
        )
        table = (pl.concat(tables) if tables else _empty(name, ["row", *fields])).drop("row")
        if metrics:
            values = self._collect(METRICS, metrics)
            table = table.hstack(pl.concat(values) if values else _empty(METRICS, metrics))
        numbers = np.full(int(self._offsets[-1]), -1, dtype=np.int64)
        numbers[self._rows] = np.arange(len(self._rows))
        order = numbers[rows]
        if (order < 0).any():
            table, order = table.filter(order >= 0), order[order >= 0]
        if (order[1:] < order[:-1]).any():  # episodes were taken in another order
            sorting = np.argsort(order, kind="stable")
            table, order = table[sorting], order[sorting]
        columns = [
            pl.Series(NUMBER_FIELD, order)
            if field == NUMBER_FIELD
            else self.column(field).gather(order)
            for field in of_episode
        ]
        return table.hstack(columns) if columns else table

    def _fill(self, name: str, columns: Sequence[str]) -> None:
        """Build the tables that are not at hand."""
        files = [part for part in self._parts if isinstance(part, File)]
        lacking = [file for file in files if file.lacks(name, columns)] if columns else []
        if sum(file.size for file in lacking) > PARALLEL_BYTES:
            fill_in_parallel(lacking, name, columns, self._watch)
        for number, file in enumerate(lacking, 1):
            if file.lacks(name, columns):
                file.measure(name, columns)
            if self._watch is not None:
                self._watch(number, len(lacking))
        for part in self._parts:
            if columns and isinstance(part, Memory):
                part.table(name, columns)

    def _collect(
        self, name: str, columns: Sequence[str], condition: pl.Expr | None = None
    ) -> list[pl.DataFrame]:
        """Return the tables of all parts, or their rows that meet a condition; a damaged table is
        built again."""
        self._fill(name, columns)

        def select(part: Part) -> pl.LazyFrame:
            table = part.table(name, columns)
            return table if condition is None else table.filter(condition)

        try:
            return pl.collect_all([select(part) for part in self._parts])
        except pl.exceptions.PolarsError:
            for part in self._parts:
                try:
                    part.table(name, columns).collect()
                except pl.exceptions.PolarsError:
                    assert isinstance(part, File)  # tables in memory are not damaged
                    part.forget(name)
            return pl.collect_all([select(part) for part in self._parts])

    def _unreadable(self, table: pl.DataFrame) -> tuple[store.BadLine, ...]:
        rows = table["bad"].ne("").arg_true().to_numpy()
        lines = []
        for row in rows.tolist():
            part = self._parts[int(np.searchsorted(self._offsets, row, side="right")) - 1]
            name = part.names[0] if isinstance(part, File) else ""
            lines.append(store.BadLine(name, table["line"][row], table["bad"][row]))
        return tuple(lines)


def _empty(name: str, columns: Sequence[str]) -> pl.DataFrame:
    types = schema_of(name, columns)
    return pl.DataFrame(schema={column: types[column] for column in columns})


def _count_lines(table: pl.DataFrame) -> tuple[Rows, int, int]:
    """Return the row that counts for each episode: its first finished line, else its last.

    Also returns the number of further finished lines, and of censored lines that were replaced.
    """
    lines = (
        table.lazy().select("episode", "cut").with_row_index("row").filter(pl.col("episode") != "")
    )
    finished = lines.filter(~pl.col("cut")).unique("episode", keep="first")
    cut = lines.filter(pl.col("cut")).unique("episode", keep="last")
    cut = cut.join(finished, on="episode", how="anti")
    done, open_, total, uncut = pl.collect_all(
        [finished.select("row"), cut.select("row"), lines.select(pl.len()),
         lines.filter(~pl.col("cut")).select(pl.len())]
    )  # fmt: skip
    rows = np.sort(np.concatenate([done["row"].to_numpy(), open_["row"].to_numpy()]))
    doubled = uncut.item() - done.height
    return rows.astype(np.int64), doubled, total.item() - len(rows) - doubled


# --- sources --------------------------------------------------------------------------------------

Source = Frame | Where | Episode | Iterable[Where | Episode]
"""A frame, a store or bundle by its path or address, an episode, or an iterable of these."""


def as_frame(source: Source, *, watch: Watch | None = None, studies: Sequence[Study] = ()) -> Frame:
    """Return the frame of a source.

    Args:
        source: A frame, a store or bundle (path or address), an episode, or an iterable of these.
        watch: Called with the number of files whose tables are ready, and of all files.
        studies: The studies of episodes in memory, which declare the factors of their cells; a
            store holds its studies itself.

    Raises:
        BadInput: If there is no store at a path, or the source is something else.
    """
    if isinstance(source, Frame):
        return source
    parts: list[Part] = []
    stores: list[Where] = []
    sources: list[Where] = []
    temporary: list[TemporaryDirectory[str]] = []
    episodes: list[Episode] = []
    for item in _items(source):
        if isinstance(item, Episode):
            episodes.append(item)
            continue
        place = _open_store(item, temporary)
        stores.append(place)
        sources.append(item)
        parts += _files(store.place(place))
    if episodes:
        parts.append(Memory(episodes))
    frame = Frame(parts, stores, watch=watch, temporary=temporary, studies=studies)
    frame.sources = tuple(sources)
    _quarantine(frame)
    return frame


def _items(source: Source) -> Iterator[Episode | Where]:
    if isinstance(source, Episode | str | Path | Folder | Remote):
        yield source
        return
    if not isinstance(source, Iterable):
        raise BadInput(f"{source!r} is not a store, a bundle or an episode.")
    for item in source:
        if not isinstance(item, Episode | str | Path | Folder | Remote):
            raise BadInput(
                f"A source contains {item!r}; it must be a store, a bundle or an episode."
            )
        yield item


def _open_store(source: Where, temporary: list[TemporaryDirectory[str]]) -> Where:
    """Return a store; a bundle is checked and unpacked to a folder that lives as long as the
    frame."""
    local = Path(source) if isinstance(source, str) and "://" not in source else source
    if not isinstance(local, Path) or not is_bundle(local):
        return source
    folder = TemporaryDirectory(prefix="sally-")
    unpack(local, Path(folder.name))
    temporary.append(folder)
    return Path(folder.name)


def _files(place: Place) -> Iterator[File]:
    try:
        names, _ = store.ready(place)
        packs = place.names("packs")
        digests = cache.KnownDigests(place.path, packs) if isinstance(place, Folder) else None
        for its in store.by_writer(place, names):
            if digests is None:
                lines = (line for _, _, line in store.all_lines(place, its))
                digest = cache.digest_of(lines, packs)
            else:
                digest = digests.digest(its[0]) if its[0].endswith(store.DONE) else ""
            yield File(place, its, digest)
        if digests is not None:
            digests.save()
    except OSError as error:
        raise BadInput(f"The store {place} cannot be read: {error.strerror}.") from None


def _quarantine(frame: Frame) -> None:
    files = dict.fromkeys(line.file for line in frame.bad)
    for place in frame.stores if files else ():
        store.quarantine_lines(store.place(place), files)
