"""Writing a store: one file a writer, whole lines, and nothing half there."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Protocol

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Setup, from_line, to_line
from sally.core.prompt import packs
from sally.core.prompt.words import Pack
from sally.store.lines import sealed
from sally.store.places import Folder, Place, Where, place
from sally.store.reading import DONE, OPEN, PART

HELD_SECONDS = 2.0  # how long a line may wait for others before a far writer puts them
FILE_BYTES = 8_000_000  # of one file of a far writer, which is held in memory until it is put


class TakenOver(Exception):
    """Another run plays this shard by now; what is not stored yet is not stored by us."""


Ours = Callable[[], bool]  # whether what we write is still ours to write


class Lines(Protocol):
    """Takes whole lines, one after another."""

    def add(self, line: bytes) -> None: ...

    def sync(self) -> None: ...

    def close(self) -> None: ...


class Writer:
    """Puts episodes into a file of its own, whose name may begin with a given label.

    A writer at an address asks `ours` before each put, and raises TakenOver if it says no.
    """

    def __init__(self, where: Where, label: str = "", ours: Ours | None = None) -> None:
        self._at = at = place(where)
        name = f"{label}-" * bool(label) + f"{os.getpid()}-{secrets.token_hex(4)}"
        try:
            self._lines: Lines = (
                Appended(at.path, name) if isinstance(at, Folder) else Put(at, name, ours)
            )
        except OSError as why:
            raise BadInput(f"The store {at} cannot be written: {why.strerror}.") from None
        self._packs = set[str]()

    def add(self, episode: Episode) -> tuple[bytes, Episode]:
        """Store one episode; a full disk raises and leaves no half line behind.

        What is given back is the line as it was written, and the episode as it will be read.
        """
        plain, read_back = _readable_line(episode)
        line = sealed(plain)
        for name in packs_of(episode.setup) - self._packs:
            keep_pack(self._at, packs.find(name))
            self._packs.add(name)
        try:
            self._lines.add(line)
        except OSError as why:
            raise BadInput(f"The episode could not be stored: {why.strerror}.") from None
        return line, read_back

    @property
    def file(self) -> str:
        """The name of the local file when it is whole; empty at an address, or without a line."""
        lines = self._lines
        return lines.done if isinstance(lines, Appended) else ""

    def sync(self) -> None:
        """Have all that was added out of reach of a crash of the machine, not only of ours."""
        try:
            self._lines.sync()
        except OSError as why:
            raise BadInput(f"The episode could not be stored: {why.strerror}.") from None

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            self._lines.close()
        except OSError as why:
            if error is None:
                raise BadInput(f"The store {self._at} cannot be written: {why.strerror}.") from None


class Appended:
    """Appends each line to `NAME.open`, which becomes `NAME.jsonl` in the end."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}{OPEN}"
        self.fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        fcntl.flock(self.fd, fcntl.LOCK_EX)  # ends with the process, however that ends
        self._empty = True
        self.done = ""  # what the file is called once it is whole

    def add(self, line: bytes) -> None:
        size = os.fstat(self.fd).st_size
        try:
            written = os.write(self.fd, line)
            if written != len(line):
                raise OSError(28, "No space left on device")
        except OSError:
            os.ftruncate(self.fd, size)
            raise
        self._empty = False

    def sync(self) -> None:
        os.fsync(self.fd)

    def close(self) -> None:
        try:
            os.fsync(self.fd)
        finally:
            os.close(self.fd)
        if self._empty:
            self._path.unlink()
        else:
            self.done = self._path.with_suffix(DONE).name
            self._path.rename(self._path.with_suffix(DONE))


class Put:
    """Puts lines as immutable parts, `NAME.0000.part`, and in the end all of them as one file.

    What was added is out of reach of a crash after `HELD_SECONDS`; the parts go when `NAME.jsonl`,
    which holds the same lines, is there.
    """

    def __init__(self, at: Place, name: str, ours: Ours | None = None) -> None:
        self._at, self._first, self._files = at, name, 0
        self._ours = ours
        self._lock, self._over = Lock(), Event()
        self._failed: OSError | TakenOver | None = (
            None  # what befell the lines that were put meanwhile
        )
        self._thread = Thread(target=self._put_what_waits, daemon=True)
        self._begin()

    def _begin(self) -> None:
        self._name = f"{self._first}-{self._files:03d}"
        self._files += 1
        self._all = bytearray()
        self._waiting = bytearray()
        self._parts: list[str] = []
        self._since = time.monotonic()

    def add(self, line: bytes) -> None:
        with self._lock:
            if self._failed is not None:
                raise self._failed
            self._waiting += line
            self._all += line
            if len(self._all) >= FILE_BYTES:
                self._finish()
                self._begin()
            elif time.monotonic() - self._since >= HELD_SECONDS:
                self._put_part()
        if self._thread.ident is None:
            self._thread.start()

    def sync(self) -> None:
        with self._lock:
            self._put_part()

    def close(self) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            self._finish()

    def _put_what_waits(self) -> None:
        """An episode may take minutes; the one before it does not wait for it."""
        while not self._over.wait(max(HELD_SECONDS, 0.05)):
            with self._lock:
                try:
                    self._put_part()
                except (OSError, TakenOver) as why:
                    self._failed = why
                    return

    def _put_part(self) -> None:
        if not self._waiting:
            return
        self._refuse_theirs()
        name = f"{self._name}.{len(self._parts):04d}{PART}"
        self._at.put(name, bytes(self._waiting))
        self._parts.append(name)
        self._waiting.clear()
        self._since = time.monotonic()

    def _finish(self) -> None:
        if self._all:
            self._refuse_theirs()  # the parts that are there stay: they came before
            self._at.put(f"{self._name}{DONE}", bytes(self._all))
        for name in self._parts:
            self._at.remove(name)
        self._all.clear()

    def _refuse_theirs(self) -> None:
        if self._ours is not None and not self._ours():
            raise TakenOver(self._name)


# --- what goes with an episode ------------------------------------------------------------------


def packs_of(setup: Setup) -> set[str]:
    """The texts that are on the table, words packs and a problem's own, by reference."""
    given = [who.params.get("pack") for who in setup.lineup.values()]
    found = {name for name in given if isinstance(name, str) and "@" in name}
    # What a problem names by the hash of what it says is kept the same way.
    return found | {name for name in setup.instance.params.values() if packs.is_reference(name)}


def keep_pack(where: Where, pack: Pack) -> None:
    """Put a pack's text into the store, once, under the hash of what it says."""
    try:
        place(where).create(
            f"packs/{packs.reference(pack).partition('@')[2]}.toml", packs.written(pack).encode()
        )
    except OSError as why:
        raise BadInput(f"A words pack could not be stored: {why.strerror}.") from None


def _readable_line(episode: Episode) -> tuple[bytes, Episode]:
    """The line of an episode, if what stands in it can be read back, and what is read there."""
    refused = f"Episode {episode.id} cannot be stored"
    try:
        line = to_line(episode)
        if b"null" in line and (where := _not_finite(msgspec.to_builtins(episode), "")):
            raise BadInput(f"{refused}: {where} is not a finite number.")
        return line, from_line(line)
    except (TypeError, msgspec.DecodeError) as why:
        raise BadInput(f"{refused}: {why}.") from None


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
