"""Episodes on disk: one line an episode, one file a writer, and nothing lost in silence.

A store is a folder. `study.json` says what it holds, `studies/` what its runs asked for, `packs/`
in which words. A writer appends whole lines to a file of its own, `<writer>.open`, and renames it
to `<writer>.jsonl` when it is done, so several processes never write to one file and a killed one
leaves all but the line it was writing.
A line that cannot be read is copied to `quarantine/` and reported with file and line.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from sally.core import packs
from sally.core.errors import BadInput
from sally.core.log import RESUMABLE, SCHEMA, Censored, Episode, from_line, to_line
from sally.core.study import Study
from sally.core.words import Pack

MANIFEST = "study.json"


class Manifest(msgspec.Struct, frozen=True):
    """What a store holds: the study's name and the hash of all that it asks for."""

    study: str
    asks: str
    schema: int = SCHEMA


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

    @property
    def finished(self) -> set[str]:
        """The ids that a resume need not run again."""
        return {id for id, e in self.episodes.items() if not to_run_again(e)}


def to_run_again(episode: Episode) -> bool:
    """Whether an episode was cut short by something that is not part of play."""
    end = episode.end
    return isinstance(end, Censored) and end.cause in RESUMABLE


# --- reading ------------------------------------------------------------------------------------


def load(folder: Path, quarantine: bool = True) -> Contents:
    """Everything in a store; a finished run of an episode takes the place of a cut one."""
    if not folder.is_dir():
        raise BadInput(f"There is no store at {folder}.")
    contents, files = Contents(), episode_files(folder)
    if (folder / MANIFEST).exists():
        _manifest(folder / MANIFEST)  # one that cannot be read is no store of ours
    elif not files:
        raise BadInput(f"There is no store at {folder}: it holds neither {MANIFEST} nor episodes.")
    know_packs(folder)
    for path in files:
        _read_into(contents, path, folder if quarantine else None)
    return contents


def load_file(path: Path) -> Contents:
    """Everything in one file of lines."""
    if not path.is_file():
        raise BadInput(f"There is neither a store nor a file at {path}.")
    contents = Contents()
    _read_into(contents, path, None)
    return contents


def _read_into(contents: Contents, path: Path, quarantine: Path | None) -> None:
    for number, line in lines_of(path):
        found = read_line(line)
        if isinstance(found, str):
            contents.bad.append(BadLine(path.name, number, found))
            if quarantine and (quarantine / MANIFEST).exists():  # a foreign folder stays as it is
                _set_aside(quarantine, path.name, number, line)
            continue
        there = contents.episodes.get(found.id)
        if there is not None and not to_run_again(there):
            contents.doubled += 1
        else:
            contents.episodes[found.id] = found


def episode_files(folder: Path) -> list[Path]:
    """The files of all writers, in a fixed order."""
    try:
        return sorted(p for p in folder.iterdir() if p.suffix in {".open", ".jsonl"})
    except OSError as why:
        raise BadInput(f"The store {folder} cannot be read: {why.strerror}.") from None


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers; a line that its writer is still writing is left."""
    with _opened(path) as file:
        number = 0
        while line := file.readline():
            number += 1
            if not line.endswith(b"\n"):
                if _is_being_written(file):
                    return
                line += file.readline()  # it may have been finished since we came to its end
            yield number, line


def _opened(path: Path) -> BinaryIO:
    """The file, under the name that its writer gave it at the end if that is gone already."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        done = path.with_suffix(".jsonl")
        return done.open("rb") if done.exists() else BytesIO()  # an empty one was taken away


def read_line(line: bytes) -> Episode | str:
    """The episode of a line, whatever its schema version, or why there is none."""
    if not line.endswith(b"\n"):
        return "the line is torn"
    try:
        plain = msgspec.json.decode(line)
        if not isinstance(plain, dict):
            return "the line is no record"
        version = plain.get("schema")
        if version == SCHEMA:
            episode = from_line(line)
        elif type(version) is int and version in MIGRATIONS:
            episode = msgspec.convert(migrated(plain), Episode)
        else:
            return f"schema version {version} is unknown; this Sally reads up to {SCHEMA}"
        episode.end  # noqa: B018  an episode without an end is no episode
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, BadInput) as why:
        return f"the line is corrupt: {why}"
    return episode


def migrated(plain: dict[str, Any]) -> dict[str, Any]:
    """A stored record of an older schema in the present one, step by step."""
    while (version := plain["schema"]) != SCHEMA:
        try:
            plain = {**MIGRATIONS[version](plain), "schema": version + 1}
        except (LookupError, TypeError, ValueError, AttributeError) as why:
            raise BadInput(f"it does not migrate from schema version {version}: {why!r}") from None
    return plain


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}  # version -> to the next


def _set_aside(folder: Path, name: str, number: int, line: bytes) -> None:
    """Copy a bad line into the quarantine, once; a store that is read-only stays as it is."""
    place = folder / "quarantine" / f"{name}.{number}"
    try:
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            _put(place, line)
    except OSError:
        return


# --- writing ------------------------------------------------------------------------------------


class Writer:
    """Appends whole lines to a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.open"
        try:
            self._fd = os.open(
                self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644
            )
        except OSError as why:
            raise BadInput(f"The store {folder} cannot be written: {why.strerror}.") from None
        fcntl.flock(self._fd, fcntl.LOCK_EX)  # ends with the process, however that ends
        self._empty = True
        self._folder, self._packs = folder, set[str]()

    def add(self, episode: Episode) -> None:
        """Put one episode on disk; a full disk raises and leaves no half line behind."""
        line, size = _readable_line(episode), os.fstat(self._fd).st_size
        for name in packs_of(episode) - self._packs:
            keep_pack(self._folder, packs.find(name))
            self._packs.add(name)
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                raise OSError(28, "No space left on device")
        except OSError as why:
            os.ftruncate(self._fd, size)
            raise BadInput(f"The episode could not be stored: {why.strerror}.") from None
        self._empty = False

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        os.fsync(self._fd)
        os.close(self._fd)
        if self._empty:
            self._path.unlink()
        else:
            self._path.rename(self._path.with_suffix(".jsonl"))


def packs_of(episode: Episode) -> set[str]:
    """The words packs that were on the table, by reference."""
    given = (who.params.get("pack") for who in episode.setup.lineup.values())
    return {name for name in given if isinstance(name, str) and "@" in name}


def keep_pack(folder: Path, pack: Pack) -> None:
    """Put a pack's text into the store, once, under the hash of what it says."""
    place = folder / "packs" / f"{packs.reference(pack).partition('@')[2]}.toml"
    try:
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            _put(place, packs.written(pack).encode())
    except OSError as why:
        raise BadInput(f"A words pack could not be stored: {why.strerror}.") from None


def know_packs(folder: Path) -> None:
    """Make the packs of a store known, so that its pages can be rendered again."""
    for path in sorted((folder / "packs").glob("*.toml")):
        packs.remember(packs.read_pack(path))


def _readable_line(episode: Episode) -> bytes:
    """The line of an episode, if what stands in it can be read back."""
    refused = f"Episode {episode.id} cannot be stored"
    try:
        line = to_line(episode)
        if b"null" in line and (where := _not_finite(msgspec.to_builtins(episode), "")):
            raise BadInput(f"{refused}: {where} is not a finite number.")
        from_line(line)
    except (TypeError, msgspec.DecodeError) as why:
        raise BadInput(f"{refused}: {why}.") from None
    return line


def _not_finite(plain: Any, where: str) -> str | None:
    """Where the first number stands that JSON would turn into null."""
    if isinstance(plain, float):
        return None if isfinite(plain) else where
    if isinstance(plain, dict):
        inside = ((value, f"{where}/{key}") for key, value in plain.items())
    elif isinstance(plain, list | tuple):
        inside = ((value, f"{where}/{i}") for i, value in enumerate(plain))
    else:
        return None
    return next((found for v, w in inside if (found := _not_finite(v, w)) is not None), None)


def _is_being_written(file: BinaryIO) -> bool:
    """Whether a live writer holds this file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def require(folder: Path, study: str) -> None:
    """Refuse a folder that cannot be this study's; nothing is written."""
    path = folder / MANIFEST
    try:
        if not path.exists():
            _refuse_others(folder)
            return
    except OSError as why:
        raise BadInput(f"The store {folder} cannot be made: {why.strerror}.") from None
    theirs = _manifest(path)
    if theirs.study != study:
        raise BadInput(
            f"The folder {folder} belongs to study {theirs.study!r}; choose another --out."
        )


def claim(folder: Path, manifest: Manifest, asked: Study | None = None) -> None:
    """Make the folder this study's, or refuse if it is another's; keep what is asked for."""
    require(folder, manifest.study)
    path = folder / MANIFEST
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            data = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
            with suppress(FileExistsError):  # another process was quicker; whose is it then?
                _put(path, data, replace=False)
    except OSError as why:
        raise BadInput(f"The store {folder} cannot be made: {why.strerror}.") from None
    require(folder, manifest.study)
    if asked is not None:
        _keep_study(folder, manifest.asks, asked)


def _keep_study(folder: Path, asks: str, study: Study) -> None:
    """Put a study into the store, once, under the hash of all that it asks for."""
    place = folder / "studies" / f"{asks}.json"
    try:
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            _put(place, msgspec.json.encode(study, order="sorted") + b"\n")
    except OSError as why:
        raise BadInput(f"The study could not be stored: {why.strerror}.") from None


def studies(folder: Path) -> dict[str, Study]:
    """What was asked for in the runs of a store, by hash; empty where none was kept."""
    found: dict[str, Study] = {}
    for path in sorted((folder / "studies").glob("*.json")):
        try:
            found[path.stem] = msgspec.json.decode(path.read_bytes(), type=Study)
        except (OSError, msgspec.DecodeError) as why:
            raise BadInput(f"{path} does not hold a study: {why}.") from None
    return found


def manifest_of(folder: Path) -> Manifest | None:
    """What a store says that it holds; None for a folder of bare files."""
    path = folder / MANIFEST
    return _manifest(path) if path.exists() else None


def _refuse_others(folder: Path) -> None:
    """A folder with files in it is somebody's; a manifest in the making is another process's."""
    if folder.exists() and any(not p.name.startswith(f".{MANIFEST}") for p in folder.iterdir()):
        if (folder / MANIFEST).exists():  # it was made while we looked
            return
        raise BadInput(f"The folder {folder} holds other files; choose another --out.")


def _manifest(path: Path) -> Manifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as why:
        raise BadInput(f"{path} does not describe a store: {why}.") from None


def _put(path: Path, data: bytes, replace: bool = True) -> None:
    """A whole file or none: written aside, then given its name."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if replace:
        aside.rename(path)
        return
    try:
        os.link(aside, path)  # unlike a rename, this fails if the name is taken
    finally:
        aside.unlink()
