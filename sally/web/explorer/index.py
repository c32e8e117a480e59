"""Index of stored episodes; when a file grows, only its new lines are read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import msgspec

from sally import store
from sally.core.errors import BadInput, unknown
from sally.core.log.events import RESUMABLE, SCHEMA, Censored, Ended, Episode, Setup, label
from sally.core.registry.study import Study

ENDED = "ended"  # outcome of a finished episode


class IndexEntry(msgspec.Struct, frozen=True, gc=False):
    """Summary of a stored episode, with the position of its line."""

    id: str
    store_name: str
    study: str
    game: str
    instance: str
    cell: str
    players: tuple[str, ...]  # as "seat = player"
    outcome: str  # "ended", or why it was censored
    paid: str
    turns: int
    file: str  # without the suffix, which changes when the writer closes it
    at: int
    size: int
    payoff: float = 0.0  # of the first seat


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

    def fits(self, entry: IndexEntry) -> bool:
        """Return whether an entry matches."""
        return (
            self.study in ("", entry.study)
            and self.game in ("", entry.game)
            and self.cell in ("", entry.cell)
            and self.instance in ("", entry.instance)
            and (
                not self.player
                or any(self.player in player_label for player_label in entry.players)
            )
            and (
                self.outcome in ("", entry.outcome)
                or (self.outcome == "censored" and entry.outcome != ENDED)
            )
        )


EVERYTHING = EpisodeFilter()
SORTS: dict[str, Callable[[IndexEntry], Any]] = {  # by column of the list
    "study": lambda entry: (entry.study, entry.cell),
    "game": lambda entry: (entry.game, entry.instance),
    "players": lambda entry: entry.players,
    "outcome": lambda entry: entry.outcome,
    "payoffs": lambda entry: entry.payoff,
    "turns": lambda entry: entry.turns,
}


def sort_entries(entries: list[IndexEntry], sort: str) -> list[IndexEntry]:
    """Return the entries in the order of a column; an unknown column changes nothing."""
    key = SORTS.get(sort.removeprefix("-"))
    return entries if key is None else sorted(entries, key=key, reverse=sort.startswith("-"))


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
    wanted: int | None  # None if the store has no study


@dataclass
class _File:
    """Identity of a file and the number of bytes read."""

    inode: int
    read: int = 0


@dataclass
class _StoreIndex:
    """Index of one store; entries are in order of arrival."""

    name: str
    folder: Path
    study: str = ""
    kept: list[str] = field(default_factory=list)  # names of the stored studies
    wanted: dict[str, int] = field(default_factory=dict)  # planned episodes by cell
    files: dict[str, _File] = field(default_factory=dict)
    entries: dict[str, IndexEntry] = field(default_factory=dict)
    bad: int = 0

    def refresh(self) -> None:
        """Read new lines; if a file shrank or was replaced, read the store again."""
        paths = {path.stem: path for path in store.episode_files(self.folder)}
        sizes = {stem: _stat(path) for stem, path in paths.items()}
        for stem, indexed_file in self.files.items():
            inode, size = sizes.get(stem, (-1, 0))
            if inode != indexed_file.inode or size < indexed_file.read:
                self.files, self.entries, self.bad = {}, {}, 0
                break
        self._know_the_study()
        for stem, (inode, size) in sizes.items():
            indexed_file = self.files.setdefault(stem, _File(inode))
            if size > indexed_file.read:
                self._read(paths[stem], indexed_file)

    def _know_the_study(self) -> None:
        if not self.study and (manifest := store.manifest_of(self.folder)):
            self.study = manifest.study
        study_names = store.Folder(self.folder).names("studies")
        if study_names != self.kept:
            self.kept, self.wanted = (
                study_names,
                _planned_episodes(store.studies(self.folder).values()),
            )
        store.know_packs(self.folder)

    def _read(self, path: Path, indexed_file: _File) -> None:
        with _open_file(path) as file:
            file.seek(indexed_file.read)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # incomplete: still being written, or torn
                offset, indexed_file.read = indexed_file.read, indexed_file.read + len(line)
                header = _header_of(line)
                if header is None:
                    self.bad += 1
                    continue
                previous = self.entries.get(header.id)
                if previous is None or previous.outcome in RESUMABLE:
                    location = (path.stem, offset, len(line))
                    try:
                        entry = index_entry(header, self.name, self.study, *location)
                    except (TypeError, ValueError, AttributeError, LookupError):
                        self.bad += 1  # the lineup has no readable names
                        continue
                    self.entries.pop(header.id, None)  # keep the newest last
                    self.entries[header.id] = entry

    def episode(self, id: str) -> Episode:
        if id not in self.entries:
            raise BadInput(f"The store {self.name!r} has no episode {id!r}.")
        entry = self.entries[id]
        with _open_file(self.folder / f"{entry.file}.open") as file:
            file.seek(entry.at)
            line = file.read(entry.size)
        record = store.read_line(line)
        if isinstance(record, Episode):
            record = store.why_wrong(line, record) or record
        if isinstance(record, str):
            raise BadInput(f"Episode {id} of the store {self.name!r} cannot be read: {record}.")
        if record.id != id:
            raise BadInput(f"The store {self.name!r} has changed; reload the list.")
        return record


class EpisodeIndex:
    """Index of several stores, each given as a store or a folder of stores."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._stores: dict[str, _StoreIndex] = {}
        self._running: tuple[IndexEntry, ...] = ()  # from a running study
        self._lock = Lock()

    def refresh(self) -> None:
        """Read the episodes stored since the last call."""
        with self._lock:
            indexed_folders = {store_index.folder for store_index in self._stores.values()}
            for folder in _folders_in(self._folders):
                if folder not in indexed_folders:
                    name = _free_name(folder.resolve().name, self._stores)
                    self._stores[name] = _StoreIndex(name, folder)
            for name, store_index in list(self._stores.items()):
                if store_index.folder.is_dir():
                    store_index.refresh()
                else:
                    del self._stores[name]

    def run(self, entries: Iterable[IndexEntry]) -> None:
        """Replace the entries of the running studies."""
        with self._lock:
            self._running = tuple(entries)

    def entries(self, episode_filter: EpisodeFilter = EVERYTHING) -> list[IndexEntry]:
        """Return matching entries, newest first within each store."""
        with self._lock:
            all_entries = [*reversed(self._running)]
            all_entries += [e for s in self._stores.values() for e in reversed(s.entries.values())]
        fitting = [entry for entry in all_entries if episode_filter.fits(entry)]
        if episode_filter.text:
            fitting = self._containing(fitting, episode_filter.text)
        return sort_entries(fitting, episode_filter.sort)

    def _containing(self, entries: Iterable[IndexEntry], text: str) -> list[IndexEntry]:
        """Return the entries whose line, or whose row in the list, contains a text; capitals do not
        matter."""
        row_text, line_text = text.lower(), msgspec.json.encode(text.lower())[1:-1]
        matching = []
        files: dict[tuple[str, str], BinaryIO] = {}
        with ExitStack() as opened:
            for entry in entries:
                row = " ".join((entry.id, entry.study, entry.cell, entry.game, entry.instance,
                                *entry.players, entry.outcome))  # fmt: skip
                if row_text in row.lower():
                    matching.append(entry)
                    continue
                if (store_index := self._stores.get(entry.store_name)) is None:
                    continue  # of a running study: its rows only
                place = (entry.store_name, entry.file)
                if place not in files:
                    path = store_index.folder / f"{entry.file}.open"
                    files[place] = opened.enter_context(_open_file(path))
                files[place].seek(entry.at)
                if line_text in files[place].read(entry.size).lower():
                    matching.append(entry)
        return matching

    def choices(self) -> dict[str, list[str]]:
        """Return the existing values of each filter field."""
        all_entries = self.entries()
        players = {
            player_label.partition(" = ")[2]
            for entry in all_entries
            for player_label in entry.players
        }
        causes = {entry.outcome for entry in all_entries}
        return {
            "study": sorted({e.study for e in all_entries} - {""}),
            "game": sorted({e.game for e in all_entries}),
            "cell": sorted({e.cell for e in all_entries} - {""}),
            "player": sorted(players),
            "outcome": sorted(causes | ({"censored"} if causes - {ENDED} else set())),
        }

    def episode(self, store_name: str, id: str) -> Episode:
        """Read an episode; raises BadInput if it is missing or invalid."""
        with self._lock:
            if store_name not in self._stores:
                raise unknown("store", store_name, self._stores)
            return self._stores[store_name].episode(id)

    def usage(self, listed: Iterable[IndexEntry]) -> dict[str, EpisodeUsage]:
        """Return tokens and seconds of episodes, by store and id; those of running studies have
        none here."""
        used = {}
        for entry in listed:
            if entry.store_name in self._stores:
                record = self.episode(entry.store_name, entry.id)
                used[f"{entry.store_name}/{entry.id}"] = usage_of(record)
        return used

    def drop_invalid(self, listed: Iterable[IndexEntry]) -> bool:
        """Remove and count entries whose lines are invalid; return whether there were any.

        The index reads only the head of a line; an entry is validated in full before it is shown.
        """
        bad_before = self.bad
        with self._lock:
            for entry in listed:
                if (
                    store_index := self._stores.get(entry.store_name)
                ) and entry.id in store_index.entries:
                    try:
                        store_index.episode(entry.id)
                    except BadInput:
                        del store_index.entries[entry.id]
                        store_index.bad += 1
        return self.bad > bad_before

    def progress(self) -> list[CellProgress]:
        """Return the numbers of ended, censored and planned episodes of every cell."""
        with self._lock:
            running = _progress(self._running, {})
            progress = (_progress(s.entries.values(), s.wanted) for s in self._stores.values())
            return [*running, *(row for rows in progress for row in rows)]

    @property
    def bad(self) -> int:
        """Number of invalid lines."""
        with self._lock:
            return sum(store_index.bad for store_index in self._stores.values())


class Header(msgspec.Struct, frozen=True):
    """An episode with only its last event decoded; decoding all events takes ten times as long."""

    id: str
    setup: Setup
    events: list[msgspec.Raw]
    cell: str = ""
    schema: int = 0

    @property
    def end(self) -> Ended | Censored:
        return msgspec.json.decode(self.events[-1], type=Ended | Censored)


_HEADER = msgspec.json.Decoder(Header)


def _header_of(line: bytes) -> Header | Episode | None:
    """Decode the head of a line; events are validated when the episode is opened."""
    try:
        header = _HEADER.decode(line)
        if header.schema == SCHEMA and header.events and header.end:
            return header
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    record = store.read_line(line)  # an older schema, or invalid
    return None if isinstance(record, str) else record


def index_entry(
    episode: Header | Episode,
    store_name: str,
    study: str,
    file: str = "",
    at: int = 0,
    size: int = 0,
) -> IndexEntry:
    """Return the index entry of an episode."""
    end, setup = episode.end, episode.setup
    payoffs = end.payoffs if isinstance(end, Ended) else {}
    return IndexEntry(
        id=episode.id,
        store_name=store_name,
        study=study,
        game=setup.instance.game,
        instance=setup.instance.id,
        cell=episode.cell,
        players=tuple(f"{seat} = {label(player)}" for seat, player in setup.lineup.items()),
        outcome=end.cause if isinstance(end, Censored) else ENDED,
        paid=", ".join(f"{seat} {pay:g}" for seat, pay in payoffs.items()),
        turns=end.turn,
        file=file,
        at=at,
        size=size,
        payoff=float(next(iter(payoffs.values()), 0.0)),
    )


def _progress(entries: Collection[IndexEntry], planned: Mapping[str, int]) -> list[CellProgress]:
    study = next((e.study for e in entries), "")
    ended = Counter(e.cell for e in entries if e.outcome == ENDED)
    censored = Counter(e.cell for e in entries if e.outcome != ENDED)
    cells = dict.fromkeys((*planned, *(e.cell for e in entries)))
    return [CellProgress(study, c, ended[c], censored[c], planned.get(c)) for c in cells]


def _planned_episodes(studies: Iterable[Study]) -> dict[str, int]:
    """Return the number of planned episodes by cell: the largest number if several studies have the
    cell."""
    planned: Counter[str] = Counter()
    for study in studies:
        planned |= Counter(cell for cell, _ in study.trials())
    return dict(planned)


def _folders_in(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        if not folder.is_dir():
            continue  # may be created later
        if (folder / store.MANIFEST).exists() or store.episode_files(folder):
            yield folder
        else:
            yield from sorted(p for p in folder.iterdir() if (p / store.MANIFEST).exists())


def _stat(path: Path) -> tuple[int, int]:
    try:
        with _open_file(path) as file:
            file_stat = os.fstat(file.fileno())
    except FileNotFoundError:
        return -1, 0  # removed meanwhile
    return file_stat.st_ino, file_stat.st_size


def _open_file(path: Path) -> BinaryIO:
    """Open a file, or the file of the same name with the suffix `.jsonl` if it has been renamed."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return path.with_suffix(".jsonl").open("rb")


def _free_name(name: str, used_names: Iterable[str]) -> str:
    names = set(used_names)
    while name in names:
        name += "+"
    return name
