"""Tables from the lines of a file or from episodes in memory.

The tables `episodes` and `seats` are always built together; the others when they are asked for:
`metrics` (one row per seat, with the metrics asked for), `profile` (or `profile SEAT`), `decisions`
and `calls`. A further table is a `Table` in `TABLES`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.rules.metric import Played
from sally.frames import Row
from sally.frames.replays import replay_for_measures as replay_episode
from sally.frames.rows import (
    call_rows,
    decision_rows,
    episode_row,
    metric_values,
    profile_rows,
    seat_rows,
)
from sally.frames.schema import (
    CALL,
    DECISION,
    EPISODE,
    NUMBER,
    PROFILE,
    ROW,
    SEAT,
    SUMS,
    Column,
    polars_schema,
)

EPISODES, SEATS, METRICS, PROFILES = "episodes", "seats", "metrics", "profile"
BATCH = 1000  # episodes whose rows are held as Python objects
UNREADABLE: Row = {"episode": "", "cut": False, "unplayed": "", "why": ""}


@dataclass(frozen=True)
class Table:
    """A table with rows computed from each replayed episode."""

    columns: tuple[Column, ...]
    rows: Callable[[Played], Iterable[Row]]


TABLES = {
    SEATS: Table(SEAT, seat_rows),
    PROFILES: Table(PROFILE, profile_rows),
    "decisions": Table(DECISION, decision_rows),
    "calls": Table(CALL, call_rows),
}


def table_named(name: str) -> Table:
    """Return a table by name; `profile SEAT` measures this seat instead of the studied ones."""
    base, _, seat = name.partition(" ")
    if seat and base == PROFILES:
        return Table(PROFILE, lambda played: profile_rows(played, (seat,)))
    return TABLES[name]


def columns_of(name: str) -> tuple[Column, ...]:
    """Return the columns of a table, with the row number of the episode first."""
    return EPISODE if name == EPISODES else (ROW, *table_named(name).columns)


class Builder:
    """Collects the tables of some episodes, one episode at a time."""

    def __init__(self, names: Collection[str], metrics: Sequence[str] = ()) -> None:
        self._tables = {name: table_named(name) for name in names if name not in NOT_BY_ROW}
        self._has_episodes = EPISODES in names
        self._metrics = tuple(metrics)
        self._pending: dict[str, list[Row]] = {name: [] for name in (*self._tables, EPISODES)}
        self._values: list[list[float | None]] = []
        self._batches: dict[str, list[pl.DataFrame]] = {}
        self._count = 0

    def add(self, episode: Episode | str, played: Played | None, **position: int) -> None:
        """Add an episode, or the reason why a line holds none.

        Args:
            episode: The episode, or the reason.
            played: The replayed episode, if it is at hand.
            position: Line, first byte and size of the line.
        """
        row = dict(UNREADABLE)
        if isinstance(episode, Episode):
            row = episode_row(episode) if self._has_episodes else {}
            try:
                played = played or replay_episode(episode)
            except BadInput as error:
                row["unplayed"] = str(error)
        else:
            row["bad"] = episode
        if played is not None:
            self._add_rows(played)
        if self._has_episodes:
            self._pending[EPISODES].append(row | position)
        self._count += 1
        if self._count % BATCH == 0:
            self._end_batch()

    def _add_rows(self, played: Played) -> None:
        for name, table in self._tables.items():
            self._pending[name] += ({"row": self._count, **row} for row in table.rows(played))
        if self._metrics:
            self._values += metric_values(played, self._metrics)

    def _end_batch(self) -> None:
        for name, rows in self._pending.items():
            if name in self._tables or self._has_episodes:
                table = frame_of(rows, columns_of(name))
                self._batches.setdefault(name, []).append(table)
                rows.clear()
        if self._metrics:
            values = list(zip(*self._values, strict=True)) or [()] * len(self._metrics)
            series = (
                pl.Series(name, column, dtype=pl.Float64, strict=False)
                for name, column in zip(self._metrics, values, strict=True)
            )
            self._batches.setdefault(METRICS, []).append(pl.DataFrame(list(series)))
            self._values = []

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables by name."""
        self._end_batch()
        return {name: pl.concat(batches) for name, batches in self._batches.items()}


NOT_BY_ROW = (EPISODES, METRICS)


def frame_of(rows: Sequence[Row], columns: tuple[Column, ...]) -> pl.DataFrame:
    """Return rows as a frame with declared columns; a field that a row lacks is null."""
    return pl.DataFrame([_series(rows, column) for column in columns])


def _series(rows: Sequence[Row], column: Column) -> pl.Series:
    values: list[Any] = [row.get(column.field) for row in rows]
    if column.type in (pl.String, pl.Categorical):
        values = [value if value is None else str(value) for value in values]
    return pl.Series(column.field, values, dtype=column.type, strict=False)


def build(
    lines: Iterable[tuple[int, bytes]], names: Collection[str], metrics: Sequence[str] = ()
) -> dict[str, pl.DataFrame]:
    """Return tables of the numbered lines of a file; every line is read and replayed once.

    Raises:
        BadInput: If the value of a metric is not finite.
    """
    builder, start = Builder(names, metrics), 0
    for number, line in lines:
        builder.add(store.sound_line(line), None, line=number, start=start, size=len(line))
        start += len(line)
    return builder.tables()


def build_episodes(
    episodes: Iterable[Episode], names: Collection[str], metrics: Sequence[str] = ()
) -> dict[str, pl.DataFrame]:
    """Return tables of episodes in memory."""
    builder = Builder(names, metrics)
    for number, episode in enumerate(episodes):
        builder.add(episode, None, line=number, start=0, size=0)
    return builder.tables()


def without_zeros(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of profiles without the sums that are 0 in every row."""
    empty = [name for name in SUMS if name in table.columns and not (table[name] != 0).any()]
    return table.drop(empty)


def schema_of(name: str, metrics: Sequence[str] = ()) -> dict[str, Any]:
    """Return the polars types of a table's columns."""
    if name == METRICS:
        return dict.fromkeys(metrics, NUMBER)
    return polars_schema(columns_of(name))
