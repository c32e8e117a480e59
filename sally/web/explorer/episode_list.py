"""Episodes of stores and running studies as one table, which the explorer filters and sorts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

import msgspec
import polars as pl

from sally import store
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode, label
from sally.core.registry.study import Study
from sally.frames.frame import Frame, as_frame
from sally.frames.rows import setup_of

ENDED = "ended"  # outcome of a finished episode
SLOW, PAUSE = 1.0, 9  # a store that takes longer to read, in seconds, rests so many times as long
SORTS: dict[str, tuple[pl.Expr, ...]] = {  # by column of the list
    "study": (pl.col("study"), pl.col("cell")),
    "game": (pl.col("game"), pl.col("instance")),
    "players": (pl.col("players").list.join(" "),),
    "outcome": (pl.col("outcome"),),
    "payoffs": (pl.col("payoffs").list.first().fill_null(0.0),),
    "turns": (pl.col("turns"),),
}


class ListedEpisode(msgspec.Struct, frozen=True):
    """An episode of the list."""

    id: str
    source: str  # name of the store or running study
    study: str
    game: str
    instance: str
    cell: str
    players: list[str]  # as "seat = player"
    outcome: str  # "ended", or why it was censored
    payoffs: list[float | None]  # by seat, in the order of `seats`
    seats: list[str]
    turns: int | None  # None if the episode cannot be replayed here

    @property
    def payoffs_text(self) -> str:
        """The payoffs by seat."""
        pairs = zip(self.seats, self.payoffs, strict=True)
        return ", ".join(f"{seat} {payoff + 0.0:g}" for seat, payoff in pairs if payoff is not None)


TYPES: dict[str, Any] = {
    **dict.fromkeys(ListedEpisode.__struct_fields__, pl.String),
    "players": pl.List(pl.String),
    "payoffs": pl.List(pl.Float64),
    "seats": pl.List(pl.String),
    "turns": pl.Int64,
}


def entries_of(table: pl.DataFrame) -> list[ListedEpisode]:
    """Return the rows of a table of episodes."""
    return [msgspec.convert(row, ListedEpisode) for row in table.to_dicts()]


class EpisodeFilter(msgspec.Struct, frozen=True):
    """Filter of the episode list; empty fields match everything."""

    study: str = ""
    game: str = ""
    cell: str = ""
    player: str = ""  # substring of "seat = player"
    outcome: str = ""  # "ended", "censored" for any cause, or one cause
    instance: str = ""
    text: str = ""  # anywhere in the episode: ids, players, replies
    sort: str = ""  # a key of SORTS, with "-" in front for the reverse order; "": newest first

    def select(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the matching rows, whatever the text."""
        for name in ("study", "game", "cell", "instance"):
            if value := getattr(self, name):
                table = table.filter(pl.col(name) == value)
        if self.player:
            players = pl.col("players").list.join("\n")
            table = table.filter(players.str.contains(self.player, literal=True))
        if self.outcome:
            outcome = pl.col("outcome")
            is_censored = self.outcome == "censored"
            table = table.filter(outcome != ENDED if is_censored else outcome == self.outcome)
        return table

    def order(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the rows in the order of a column; an unknown column changes nothing."""
        keys = SORTS.get(self.sort.removeprefix("-"))
        if keys is None:
            return table
        return table.sort(*keys, descending=self.sort.startswith("-"), maintain_order=True)


EVERYTHING = EpisodeFilter()


class EpisodeUsage(msgspec.Struct, frozen=True):
    """What an episode took: model calls, tokens, and the time of models and people."""

    calls: int
    tokens: int
    seconds: float | None  # None if nothing was timed, as with bots


def usage_of(episode: Episode) -> EpisodeUsage:
    """Return the calls, tokens and seconds of an episode.

    Seconds are those of model calls and of the answers of people, added up.
    """
    calls = [call for event in episode.events for call in event.calls]
    people = episode.used.get("people", {}).values()
    seconds = [float(call.usage.get("seconds", 0.0)) for call in calls]
    seconds += [float(answer) for person in people for answer in person.get("seconds", ())]
    tokens = sum(call.usage.get("input", 0) + call.usage.get("output", 0) for call in calls)
    return EpisodeUsage(len(calls), tokens, sum(seconds) if any(seconds) else None)


class CellProgress(msgspec.Struct, frozen=True):
    """Progress of a cell of a study."""

    study: str
    cell: str
    ended: int
    censored: int
    wanted: int | None  # None if the source has no study


@dataclass
class _Source:
    """A store or a running study, as it was when it was read."""

    name: str
    study: str
    frame: Frame
    state: object  # files, or ids of episodes: if it changes, the source is read again
    planned: Mapping[str, int] = field(default_factory=dict)  # episodes by cell
    next_reading: float = 0.0

    def __post_init__(self) -> None:
        self.table = _table(self.frame, self.name, self.study)

    def progress(self) -> Iterator[CellProgress]:
        """Yield the progress of every cell."""
        is_ended = pl.col("outcome") == ENDED
        counts = self.table.group_by("cell", maintain_order=True).agg(
            is_ended.sum().alias("ended"), (~is_ended).sum().alias("censored")
        )
        by_cell = {cell: (ended, censored) for cell, ended, censored in counts.rows()}
        for cell in dict.fromkeys((*self.planned, *by_cell)):
            ended, censored = by_cell.get(cell, (0, 0))
            yield CellProgress(self.study, cell, ended, censored, self.planned.get(cell))


def _table(frame: Frame, source: str, study: str) -> pl.DataFrame:
    """Return the episodes of a frame, last first."""
    episodes = frame.episodes.select(
        pl.col("episode").alias("id"), "game", "instance", "cell", "setup"
    ).with_columns(frame.column("end").replace("over", ENDED).alias("outcome"))
    setups = episodes["setup"].unique().drop_nulls()
    players = [
        [f"{seat} = {label(player)}" for seat, player in setup_of(setup).lineup.items()]
        for setup in setups
    ]
    lineups = pl.DataFrame({"setup": setups, "players": pl.Series(players, dtype=TYPES["players"])})
    seats = frame.playable().seats("episode", "seat", "turns", "payoff")
    results = seats.group_by(pl.col("episode").alias("id")).agg(
        pl.col("payoff").alias("payoffs"), pl.col("seat").alias("seats"), pl.col("turns").first()
    )
    table = episodes.join(lineups, on="setup", how="left", maintain_order="left")
    table = table.join(results, on="id", how="left", maintain_order="left").with_columns(
        pl.lit(source).alias("source"),
        pl.lit(study).alias("study"),
        pl.col("payoffs", "seats").fill_null([]),
    )
    return table.select(pl.col(name).cast(type) for name, type in TYPES.items()).reverse()


class EpisodeList:
    """Episodes of several stores, each given as a store or a folder of stores, and of running
    studies."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._stores: dict[Path, _Source] = {}
        self._running: dict[str, _Source] = {}
        self._lock = Lock()

    def refresh(self, running: Mapping[str, tuple[str, Sequence[Episode]]] | None = None) -> None:
        """Read the sources that changed since the last call.

        Args:
            running: The names of running studies, each with the name of the study and its
                finished episodes.
        """
        with self._lock:
            folders = list(_folders_in(self._folders))
            self._stores = {f: source for f, source in self._stores.items() if f in folders}
            for folder in folders:
                self._read_store(folder)
            earlier_sources, self._running = self._running, {}
            for name, (study, episodes) in (running or {}).items():
                source, ids = earlier_sources.get(name), [episode.id for episode in episodes]
                if source is None or source.state != ids:
                    source = _Source(name, study, as_frame(episodes), ids)
                self._running[name] = source

    def _read_store(self, folder: Path) -> None:
        source, began = self._stores.get(folder), monotonic()
        state = (_files(folder), store.Folder(folder).names("studies"))
        if source is not None and (source.state == state or began < source.next_reading):
            return
        if source is None:
            name = _free_name(folder.resolve().name, [s.name for s in self._stores.values()])
        else:
            name = source.name
        manifest = store.manifest_of(folder)
        study = manifest.study if manifest else ""
        planned = _planned_episodes(store.studies(folder).values())
        source = _Source(name, study, as_frame(folder), state, planned)
        ended = monotonic()
        if ended - began > SLOW:
            source.next_reading = ended + PAUSE * (ended - began)
        self._stores[folder] = source

    def _sources(self) -> list[_Source]:
        return [*self._running.values(), *self._stores.values()]

    def episodes(self, selection: EpisodeFilter = EVERYTHING) -> pl.DataFrame:
        """Return the matching episodes, the last of each store first."""
        with self._lock:
            tables = [
                _containing(source, selection.select(source.table), selection.text)
                for source in self._sources()
            ]
        return selection.order(pl.concat([pl.DataFrame(schema=TYPES), *tables]))

    def choices(self) -> dict[str, list[str]]:
        """Return the existing values of each filter field."""
        table = self.episodes()

        def values(column: pl.Series) -> list[str]:
            return sorted(set(column.unique()) - {"", None})

        causes = values(table["outcome"])
        return {
            "study": values(table["study"]),
            "game": values(table["game"]),
            "cell": values(table["cell"]),
            "player": values(table["players"].explode().str.replace("^.* = ", "")),
            "outcome": sorted({*causes, *(["censored"] if set(causes) - {ENDED} else [])}),
        }

    def episode(self, source: str, id: str) -> Episode:
        """Read an episode; raises BadInput if it is missing or was changed."""
        with self._lock:
            sources = {entry.name: entry for entry in self._sources()}
            if source not in sources:
                raise unknown("store", source, sources)
            try:
                return sources[source].frame.episode_by_id(id)
            except KeyError:
                raise BadInput(
                    f"{source!r} has no episode {id!r}; its line may be invalid, or it may have "
                    "been withdrawn."
                ) from None

    def progress(self) -> list[CellProgress]:
        """Return the numbers of ended, censored and planned episodes of every cell."""
        with self._lock:
            return [row for source in self._sources() for row in source.progress()]

    @property
    def bad(self) -> int:
        """Number of invalid lines."""
        with self._lock:
            return sum(len(source.frame.bad) for source in self._sources())


def _containing(source: _Source, table: pl.DataFrame, text: str) -> pl.DataFrame:
    """Return the episodes whose line, or whose row in the list, contains a text; capitals do not
    matter."""
    if not text:
        return table
    row = pl.concat_str(
        "id", "study", "cell", "game", "instance", pl.col("players").list.join(" "), "outcome",
        separator=" ",
    )  # fmt: skip
    in_row = row.str.to_lowercase().str.contains(text.lower(), literal=True)
    encoded = msgspec.json.encode(text.lower())[1:-1]
    numbers = [n for n, line in source.frame.lines() if encoded in line.lower()]
    ids = source.frame.episodes["episode"][numbers]
    return table.filter(in_row | pl.col("id").is_in(ids.implode()))


def _planned_episodes(studies: Iterable[Study]) -> dict[str, int]:
    """Return the number of planned episodes by cell: the largest number if several studies have the
    cell."""
    planned = Counter[str]()
    for study in studies:
        planned |= Counter(cell for cell, _ in study.trials())
    return planned


def _folders_in(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        if not folder.is_dir():
            continue  # may be created later
        if (folder / store.MANIFEST).exists() or store.episode_files(folder):
            yield folder
        else:
            yield from sorted(p for p in folder.iterdir() if (p / store.MANIFEST).exists())


def _files(folder: Path) -> list[tuple[str, int, int, int]]:
    """Return name, identity, size and time of each file of lines."""
    files = []
    for path in store.episode_files(folder):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue  # its writer renamed it meanwhile
        files.append((path.name, stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return files


def _free_name(name: str, used_names: Iterable[str]) -> str:
    names = set(used_names)
    while name in names:
        name += "+"
    return name
