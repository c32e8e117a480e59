"""Reading a store; unreadable lines are quarantined and reported."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.log.events import RESUMABLE, Censored, Episode, Forfeited, Moved
from sally.core.registry import packs, registry
from sally.core.rules.words import Pack, check_pack
from sally.store.lines import read_line, sound_line, was_changed
from sally.store.manifest import MANIFEST, read_manifest
from sally.store.places import Folder, Place, Remote, Where, place

# Numbers that differ between episodes censored for the same reason.
# Addresses are kept whole, and so are limits of time and of void rounds and numbers in names, such
# as gpt-4.
_NUMBER = re.compile(
    r"(?P<kept>\w+://\S+|\banswered \d{3}\b|\bwithin \d+(?:\.\d+)? s\b|\b\d+ rounds in a row\b)|"
    r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9_]-)-?\d[\d,.:]*(?:e[+-]?\d+)?(?<![.,:])"
)
Among = Callable[[str], bool]  # selects files by name
OPEN, PART, DONE = ".open", ".part", ".jsonl"  # being appended to; uploaded part; finished file

QUARANTINE_BYTES = 1_000_000  # maximum size of the quarantined copy of one file's bad lines


class BadLine(msgspec.Struct, frozen=True):
    """An unreadable line and the reason."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.why}"


@dataclass
class Contents:
    """The episodes of a store by id, and its unreadable lines."""

    episodes: dict[str, Episode] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)
    doubled: int = 0  # duplicate lines
    changed: set[str] = field(default_factory=set)  # ids with a wrong checksum

    @property
    def finished_ids(self) -> set[str]:
        """Ids of episodes that need not be run again."""
        return {id for id, e in self.episodes.items() if not to_run_again(e)}


def to_run_again(episode: Episode) -> bool:
    """Return whether an episode was censored by a cause outside the game, such as a budget."""
    end = episode.end
    return isinstance(end, Censored) and end.cause in RESUMABLE


def load(store: Where, quarantine: bool = True, check: bool = True) -> Contents:
    """Load a store; a finished run of an episode replaces a censored one."""
    contents = Contents()
    for episode in read(store, quarantine, "", check, contents.changed):
        _add(contents, episode)
    return contents


def load_file(path: Path, check: bool = True) -> Contents:
    """Load the episodes of one file, which has one episode per line."""
    contents = Contents()
    for episode in _read_file(path, check, contents.changed):
        _add(contents, episode)
    return contents


def _read_file(path: Path, check: bool, changed: set[str]) -> Iterator[Episode | BadLine]:
    if not path.is_file():
        raise BadInput(f"{path} is neither a store nor a file.")
    return _episodes(((path.name, *line) for line in lines_of(path)), None, check, changed)


def each_episode(store: Where, dropped: Contents) -> Iterator[Episode]:
    """Yield the episodes that `load` returns, holding one in memory at a time; nothing is checked.

    Episodes that a resumed run plays again come last.

    Args:
        store: Store, or one file with an episode per line.
        dropped: Contents to which bad lines, the ids of changed lines and the number of duplicate
            lines are added.
    """
    if isinstance(store, Path) and not store.is_dir():
        lines = _read_file(store, False, dropped.changed)
    else:
        lines = read(store, True, "", False, dropped.changed)
    finished_ids, censored = set[str](), dict[str, Episode]()
    for episode in lines:
        if isinstance(episode, BadLine):
            dropped.bad.append(episode)
        elif to_run_again(episode):
            censored[episode.id] = episode
        elif episode.id not in finished_ids:
            finished_ids.add(episode.id)
            yield episode
        else:
            dropped.doubled += 1
    yield from (episode for id, episode in censored.items() if id not in finished_ids)


def _add(contents: Contents, episode: Episode | BadLine) -> None:
    if isinstance(episode, BadLine):
        contents.bad.append(episode)
        return
    earlier = contents.episodes.get(episode.id)
    if earlier is not None and not to_run_again(earlier):
        contents.doubled += not to_run_again(episode)
    else:
        contents.episodes[episode.id] = episode


def reason(episode: Episode) -> str:
    """Return why an episode has no result, with numbers replaced by N so that equal causes match.

    An episode that ended by the rules has no result if it is void, that is, if a seat forfeited
    every decision.
    """
    end = episode.end
    if isinstance(end, Censored):
        detail = _NUMBER.sub(lambda number: number["kept"] or "N", end.detail)
        return f"{end.cause}: {detail}" if detail else end.cause
    if silent := void_seats(episode):
        return f"void: {join_names(sorted(silent))} forfeited every decision"
    return ""


def void_seats(episode: Episode) -> set[str]:
    """Return the seats that forfeited and never moved."""
    forfeited = {event.seat for event in episode.events if type(event) is Forfeited}
    if not forfeited:
        return forfeited
    return forfeited - {event.seat for event in episode.events if type(event) is Moved}


def read(
    store: Where,
    quarantine: bool = True,
    among: Among | str = "",
    check: bool = True,
    changed: set[str] | None = None,
) -> Iterator[Episode | BadLine]:
    """Yield the lines of a store, holding one in memory at a time.

    With `check`, a line with a wrong checksum or an invalid episode is yielded as a BadLine;
    without it, such a line is decoded anyway, and ids with a wrong checksum are added to `changed`.
    """
    location = place(store)
    try:
        names, ours = ready(location)
        selected_names = [name for name in names if is_among(name, among)]
        aside = location if ours and quarantine else None
        yield from _episodes(all_lines(location, selected_names), aside, check, changed)
    except OSError as error:
        raise BadInput(f"The store {location} cannot be read: {error.strerror}.") from None


def ready(location: Place) -> tuple[list[str], bool]:
    """Register the words packs of a store.

    Returns its files of lines and whether it has a manifest.

    Raises:
        BadInput: There is no store, or its manifest is not valid.
    """
    if not location.exists():
        raise BadInput(f"There is no store at {location}.")
    inside = _list_names(location)
    names = first_finished_first(location, [name for name in inside if _holds_lines(name)])
    ours = MANIFEST in inside  # nothing is written to a folder without a manifest
    if ours:
        read_manifest(location)  # raises if it is not valid
    elif not names:
        raise BadInput(
            f"There is no store at {location}: it holds neither {MANIFEST} nor episodes."
        )
    know_packs(location)
    return names, ours


def quarantine_lines(location: Place, names: Iterable[str]) -> None:
    """Copy the bad lines of some files to the quarantine, if the store has a manifest."""
    file_names = list(names)
    if file_names and MANIFEST in location.names():
        for _ in _episodes(all_lines(location, file_names), location, True):
            pass


def _episodes(
    lines: Iterable[tuple[str, int, bytes]],
    quarantine: Place | None,
    check: bool,
    changed: set[str] | None = None,
) -> Iterator[Episode | BadLine]:
    aside: dict[str, bytearray] = {}
    for name, number, line in lines:
        episode = sound_line(line) if check else read_line(line, sums=False)
        if not check and changed is not None and isinstance(episode, Episode) and was_changed(line):
            changed.add(episode.id)
        if isinstance(episode, str):
            bad_lines = aside.setdefault(name, bytearray())
            if len(bad_lines) + len(line) < QUARANTINE_BYTES:
                bad_lines += line if line.endswith(b"\n") else line + b"\n"
            yield BadLine(name, number, episode)
        else:
            yield episode
    if quarantine is not None:
        for name, bad_lines in aside.items():
            _set_aside(quarantine, name, bytes(bad_lines))


def know_packs(store: Where) -> None:
    """Register the words packs of a store, so that its prompts can be rendered again."""
    location, to_check = place(store), list[tuple[Pack, Mapping[str, str]]]()
    for name in location.names("packs"):
        text = location.read(f"packs/{name}").decode("utf-8", "replace")
        pack = packs.parse_pack(text, f"{location}/packs/{name}")
        with suppress(BadInput):  # the words of a game that is not installed cannot be checked
            spec = registry.game(pack.game)
            # A text of an instance, such as a ruleset, is not a words pack.
            if not spec.portable or set(pack.texts) & set(spec.texts):
                to_check.append((pack, spec.texts))
        packs.remember(pack)
    strategies = registry.entries("strategies").values() if to_check else ()
    strategy_texts = {key: text for strategy in strategies for key, text in strategy.texts.items()}
    for pack, texts in to_check:
        check_pack(pack, {**strategy_texts, **texts})


def _set_aside(location: Place, name: str, lines: bytes) -> None:
    """Copy a file's bad lines to a file of the quarantine, unless they are already there.

    A read-only store stays unchanged.
    """
    try:
        if (
            location.create(f"quarantine/{name}", lines)
            or location.read(f"quarantine/{name}") == lines
        ):
            return
        location.write(f"quarantine/{name}", lines)
    except OSError:
        return


# --- files of lines -----------------------------------------------------------------------------


def _list_names(location: Place) -> list[str]:
    """Return all names, even if a writer renames its file during the listing.

    A single listing may miss both names; of two listings, at least one contains the old or the new
    name.
    """
    names = {*location.names(), *location.names()}
    ended = {name.removesuffix(DONE) for name in names if name.endswith(DONE)}
    return sorted(name for name in names if name.removesuffix(OPEN) not in ended)


def _holds_lines(name: str) -> bool:
    return name.endswith((OPEN, PART, DONE))


def first_finished_first(location: Place, names: list[str]) -> list[str]:
    """Return files sorted by name, except that the files of one shard are sorted by upload time.

    In a remote store a stalled run may upload an episode that its successor has already uploaded.
    """
    if not isinstance(location, Remote):
        return names
    writers: dict[str, set[str]] = {}
    for name in names:
        writers.setdefault(_shard(name), set()).add(_writer(name))
    upload_times = {
        writer: min(location.put_at(name) for name in names if _writer(name) == writer)
        for shard_writers in writers.values()
        for writer in (shard_writers if len(shard_writers) > 1 else ())
    }
    return sorted(
        names,
        key=lambda name: (_shard(name), upload_times.get(_writer(name), 0.0), _writer(name), name),
    )


def _shard(name: str) -> str:
    """Return the shard prefix (number and hash) of a file name, or the whole name if there is no
    prefix."""
    prefix = re.match(r"\d{5}-[0-9a-f]{8}-", name)
    return prefix[0] if prefix else name


def episode_files(folder: Path) -> list[Path]:
    """Return the files of all writers of a local store, sorted."""
    return [folder / name for name in Folder(folder).names() if _holds_lines(name)]


def all_lines(location: Place, names: Iterable[str]) -> Iterator[tuple[str, int, bytes]]:
    """Yield every line with its file and number."""
    if isinstance(location, Folder):
        for name in names:
            for number, line in lines_of(location.path / name):
                yield name, number, line
        return
    for writer, its in groupby(names, key=_writer):
        yield from _put_lines(location, writer, list(its))


def by_writer(location: Place, names: Iterable[str]) -> Iterator[list[str]]:
    """Yield the files of each writer: one in a local store, several parts in a remote one."""
    if isinstance(location, Folder):
        yield from ([name] for name in names)
    else:
        yield from (list(its) for _, its in groupby(names, key=_writer))


def _writer(name: str) -> str:
    return name.removesuffix(DONE) if name.endswith(DONE) else name.rsplit(".", 2)[0]


def _put_lines(location: Place, writer: str, names: list[str]) -> Iterator[tuple[str, int, bytes]]:
    """Yield the lines of a remote writer, from its uploaded parts or the file that replaced
    them."""
    final_name, lines_seen = writer + DONE, 0
    if final_name not in names:
        for name in names:
            try:
                lines = location.read(name).splitlines(keepends=True)
            except FileNotFoundError:  # the writer finished meanwhile
                break
            for number, line in enumerate(lines, 1):
                yield name, number, line
            lines_seen += len(lines)
        else:
            return
    for number, line in enumerate(location.read(final_name).splitlines(keepends=True), 1):
        if number > lines_seen:
            yield final_name, number, line


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of a file, without a line that is still being written, or whose
    writer was killed or found the disk full before it had written the whole line."""
    with open_lines(path) as file:
        number = 0
        while line := file.readline():
            number += 1
            if not line.endswith(b"\n"):
                if is_being_written(file):
                    return
                line += file.readline()  # it may have been completed meanwhile
                if path.suffix == OPEN and not line.endswith(b"\n"):
                    return  # the episode was not stored, so a run plays it again
            yield number, line


def open_lines(path: Path) -> BinaryIO:
    """Open a file of lines, by its final name if its writer has renamed it in the meantime.

    Raises:
        BadInput: The path is not a regular file.
    """
    try:
        if not path.is_file() and path.exists():  # opening a pipe would block
            raise BadInput(f"{path} is named like a JSON Lines file but is not a regular file.")
        return path.open("rb")
    except FileNotFoundError:
        done = path.with_suffix(DONE)
        return done.open("rb") if done.exists() else BytesIO()  # an empty file is removed on close


def is_being_written(file: BinaryIO) -> bool:
    """Return whether a running process holds the lock of this file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def is_among(name: str, among: Among | str) -> bool:
    """Return whether a file is selected by prefix or function."""
    return name.startswith(among) if isinstance(among, str) else among(name)


def has_living_writer(store: Where, among: Among | str) -> bool:
    """Return whether a process is still appending to one of the selected local files."""
    location = place(store)
    if not isinstance(location, Folder):
        return False  # an upload is complete once visible
    for name in location.names():
        if name.endswith(OPEN) and is_among(name, among):
            with open_lines(location.path / name) as file:
                if not isinstance(file, BytesIO) and is_being_written(file):
                    return True
    return False
