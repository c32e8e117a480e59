"""Reading a store: every line an episode, and what is none set aside and reported."""

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

from sally.core.errors import BadInput
from sally.core.log.events import RESUMABLE, Censored, Episode
from sally.core.prompt import packs
from sally.core.prompt.words import Pack, checked
from sally.core.registry import registry
from sally.core.registry.model_names import remember
from sally.store.lines import read_line, sound_line, was_changed
from sally.store.manifest import MANIFEST, aliases, models_asked, read_manifest
from sally.store.places import Folder, Place, Remote, Where, place

_NUMBER = re.compile(r"\d[\d,]{2,}(\.\d+)?|\d+\.\d+")  # what differs between episodes cut alike
Among = Callable[[str], bool]  # whether a file is meant, by its name
OPEN, PART, DONE = ".open", ".part", ".jsonl"  # being appended to; put already; all of a writer's


QUARANTINE_BYTES = 1_000_000  # of bad lines that are copied for one file of lines


class BadLine(msgspec.Struct, frozen=True):
    """A line that holds no episode."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.why}"


@dataclass
class Contents:
    """What a store holds: episodes by id, and what could not be read."""

    episodes: dict[str, Episode] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)
    doubled: int = 0  # lines whose episode was there already
    changed: set[str] = field(default_factory=set)  # ids whose lines were changed, if not checked

    @property
    def finished(self) -> set[str]:
        """The ids that a resume need not run again."""
        return {id for id, e in self.episodes.items() if not to_run_again(e)}


def to_run_again(episode: Episode) -> bool:
    """Whether an episode was cut short by something that is not part of play."""
    end = episode.end
    return isinstance(end, Censored) and end.cause in RESUMABLE


def load(where: Where, quarantine: bool = True, check: bool = True) -> Contents:
    """Everything in a store; a finished run of an episode takes the place of a cut one."""
    contents = Contents()
    for found in read(where, quarantine, "", check, contents.changed):
        _add(contents, found)
    return contents


def load_file(path: Path, check: bool = True) -> Contents:
    """Everything in one file of lines."""
    if not path.is_file():
        raise BadInput(f"There is neither a store nor a file at {path}.")
    contents = Contents()
    lines = ((path.name, *line) for line in lines_of(path))
    for found in _episodes(lines, None, check, contents.changed):
        _add(contents, found)
    return contents


def _add(contents: Contents, found: Episode | BadLine) -> None:
    if isinstance(found, BadLine):
        contents.bad.append(found)
        return
    there = contents.episodes.get(found.id)
    if there is not None and not to_run_again(there):
        contents.doubled += 1
    else:
        contents.episodes[found.id] = found


def reason(episode: Episode) -> str:
    """Why an episode has no result, in words that are the same for episodes cut alike."""
    end = episode.end
    if not isinstance(end, Censored):
        return ""
    return f"{end.cause}: {_NUMBER.sub('…', end.detail)}" if end.detail else end.cause


def read(
    where: Where,
    quarantine: bool = True,
    among: Among | str = "",
    check: bool = True,
    changed: set[str] | None = None,
) -> Iterator[Episode | BadLine]:
    """The lines of a store, one after another; only one is held at a time.

    With `check`, a line that was changed or cannot have been played is as bad as a torn one;
    without, it is read as it stands, and the ids of changed ones are put into `changed`.
    """
    at = place(where)
    try:
        names, ours = ready(at)
        wanted = [name for name in names if _is_among(name, among)]
        aside = at if ours and quarantine else None
        yield from _episodes(all_lines(at, wanted), aside, check, changed)
    except OSError as why:
        raise BadInput(f"The store {at} cannot be read: {why.strerror}.") from None


def ready(at: Place) -> tuple[list[str], bool]:
    """Know the words and models of a store; its files of lines, and whether it is one of ours."""
    if not at.exists():
        raise BadInput(f"There is no store at {at}.")
    inside = _listed(at)
    names = first_finished_first(at, [name for name in inside if _holds_lines(name)])
    ours = MANIFEST in inside  # a foreign folder stays as it is
    if ours:
        read_manifest(at)  # one that cannot be read is no store of ours
    elif not names:
        raise BadInput(f"There is no store at {at}: it holds neither {MANIFEST} nor episodes.")
    know_packs(at)
    remember(models_asked(at), aliases(at))
    return names, ours


def quarantine_lines(at: Place, names: Iterable[str]) -> None:
    """Copy the bad lines of some files into the quarantine, if the store is one of ours."""
    some = list(names)
    if some and MANIFEST in at.names():
        for _ in _episodes(all_lines(at, some), at, True):
            pass


def _episodes(
    lines: Iterable[tuple[str, int, bytes]],
    quarantine: Place | None,
    check: bool,
    changed: set[str] | None = None,
) -> Iterator[Episode | BadLine]:
    aside: dict[str, bytearray] = {}
    for name, number, line in lines:
        found = sound_line(line) if check else read_line(line, sums=False)
        if not check and changed is not None and isinstance(found, Episode) and was_changed(line):
            changed.add(found.id)
        if isinstance(found, str):
            kept = aside.setdefault(name, bytearray())
            if len(kept) + len(line) < QUARANTINE_BYTES:
                kept += line if line.endswith(b"\n") else line + b"\n"
            yield BadLine(name, number, found)
        else:
            yield found
    if quarantine is not None:
        for name, kept in aside.items():
            _set_aside(quarantine, name, bytes(kept))


def know_packs(where: Where) -> None:
    """Make the packs of a store known, so that its pages can be rendered again."""
    at, to_check = place(where), list[tuple[Pack, Mapping[str, str]]]()
    for name in at.names("packs"):
        text = at.read(f"packs/{name}").decode("utf-8", "replace")
        pack = packs.parsed(text, f"{at}/packs/{name}")
        with suppress(BadInput):  # a game that is not installed cannot check its words
            spec = registry.game(pack.game)
            # A problem's own text, such as a ruleset, is no words.
            if not spec.portable or set(pack.texts) & set(spec.texts):
                to_check.append((pack, spec.texts))
        packs.remember(pack)
    strategies = registry.entries("strategies").values() if to_check else ()
    said = {key: text for strategy in strategies for key, text in strategy.texts.items()}
    for pack, texts in to_check:
        checked(pack, {**said, **texts})


def _set_aside(at: Place, name: str, lines: bytes) -> None:
    """Copy a file's bad lines into one file of the quarantine, unless they are there already.

    What does not fit the bound is counted with the rest and stays where it was; a store that is
    read-only stays as it is.
    """
    try:
        if at.create(f"quarantine/{name}", lines) or at.read(f"quarantine/{name}") == lines:
            return
        at.put(f"quarantine/{name}", lines)
    except OSError:
        return


# --- files of lines -----------------------------------------------------------------------------


def _listed(at: Place) -> list[str]:
    """All names, though a writer may end, and give its lines another name, while we list them.

    A single listing may pass by both names; of two, one sees the old name or the other the new.
    """
    found = {*at.names(), *at.names()}
    ended = {name.removesuffix(DONE) for name in found if name.endswith(DONE)}
    return sorted(name for name in found if name.removesuffix(OPEN) not in ended)


def _holds_lines(name: str) -> bool:
    return name.endswith((OPEN, PART, DONE))


def first_finished_first(at: Place, names: list[str]) -> list[str]:
    """Files in the order of their names, but of two writers of one shard the earlier one first.

    At an address a run that stood still may put an episode which its heir has put meanwhile.
    """
    if not isinstance(at, Remote):
        return names
    writers: dict[str, set[str]] = {}
    for name in names:
        writers.setdefault(_shard(name), set()).add(_writer(name))
    when = {
        writer: min(at.put_at(name) for name in names if _writer(name) == writer)
        for several in writers.values()
        for writer in (several if len(several) > 1 else ())
    }
    return sorted(
        names, key=lambda name: (_shard(name), when.get(_writer(name), 0.0), _writer(name), name)
    )


def _shard(name: str) -> str:
    """The number and hash with which the files of a shard begin; without one, all of the name."""
    found = re.match(r"\d{5}-[0-9a-f]{8}-", name)
    return found[0] if found else name


def episode_files(folder: Path) -> list[Path]:
    """The files of all writers of a local store, in a fixed order."""
    return [folder / name for name in Folder(folder).names() if _holds_lines(name)]


def all_lines(at: Place, names: Iterable[str]) -> Iterator[tuple[str, int, bytes]]:
    """Every line with its file and number."""
    if isinstance(at, Folder):
        for name in names:
            for number, line in lines_of(at.path / name):
                yield name, number, line
        return
    for writer, its in groupby(names, key=_writer):
        yield from _put_lines(at, writer, list(its))


def _writer(name: str) -> str:
    return name.removesuffix(DONE) if name.endswith(DONE) else name.rsplit(".", 2)[0]


def _put_lines(at: Place, writer: str, names: list[str]) -> Iterator[tuple[str, int, bytes]]:
    """The lines of a writer that puts: its parts, or the one file that took their place."""
    whole, seen = writer + DONE, 0
    if whole not in names:
        for name in names:
            try:
                lines = at.read(name).splitlines(keepends=True)
            except FileNotFoundError:  # while we read, the writer came to its end
                break
            for number, line in enumerate(lines, 1):
                yield name, number, line
            seen += len(lines)
        else:
            return
    for number, line in enumerate(at.read(whole).splitlines(keepends=True), 1):
        if number > seen:
            yield whole, number, line


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers; a line that its writer is still writing is left."""
    with open_lines(path) as file:
        number = 0
        while line := file.readline():
            number += 1
            if not line.endswith(b"\n"):
                if is_being_written(file):
                    return
                line += file.readline()  # it may have been finished since we came to its end
            yield number, line


def open_lines(path: Path) -> BinaryIO:
    """The file, under the name that its writer gave it at the end if that is gone already."""
    try:
        if not path.is_file() and path.exists():  # to open a pipe would be to wait for ever
            raise BadInput(f"{path} is not a file of lines, though it has the name of one.")
        return path.open("rb")
    except FileNotFoundError:
        done = path.with_suffix(DONE)
        return done.open("rb") if done.exists() else BytesIO()  # an empty one was taken away


def is_being_written(file: BinaryIO) -> bool:
    """Whether a live writer holds this file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _is_among(name: str, among: Among | str) -> bool:
    return name.startswith(among) if isinstance(among, str) else among(name)


def has_living_writer(where: Where, among: Among | str) -> bool:
    """Whether a process is still appending to a local file whose name begins so, or is meant."""
    at = place(where)
    if not isinstance(at, Folder):
        return False  # a put is over when it is seen
    for name in at.names():
        if name.endswith(OPEN) and _is_among(name, among):
            with open_lines(at.path / name) as file:
                if not isinstance(file, BytesIO) and is_being_written(file):
                    return True
    return False
