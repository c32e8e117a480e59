"""Writing to a store: one file per writer, whole lines only."""

from __future__ import annotations

import errno
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

from sally.core.errors import BadInput, not_written
from sally.core.log.events import Episode, Setup, from_line, to_line
from sally.core.registry import packs
from sally.core.rules.words import Pack
from sally.store.lines import append_checksum
from sally.store.places import Folder, Place, Where, place
from sally.store.reader import DONE, OPEN, PART

HELD_SECONDS = 2.0  # how long a remote writer collects lines before uploading a part
FILE_BYTES = 8_000_000  # size of one remote file, which is held in memory until uploaded


class TakenOver(Exception):
    """Raised if another run has taken over this shard; lines not yet stored are dropped."""


Ours = Callable[[], bool]  # returns whether this run still owns the shard


class LineSink(Protocol):
    """Interface of a destination to which whole lines are written."""

    def add(self, line: bytes) -> None: ...

    def sync(self) -> None: ...

    def close(self) -> None: ...


class Writer:
    """A writer of episodes to a file of its own, whose name may start with a label.

    A remote writer calls `ours` before each upload and raises TakenOver if `ours` returns False.
    """

    def __init__(self, store: Where, label: str = "", ours: Ours | None = None) -> None:
        self._at = location = place(store)
        name = f"{label}-" * bool(label) + f"{os.getpid()}-{secrets.token_hex(4)}"
        try:
            self._lines: LineSink = (
                AppendSink(location.path, name)
                if isinstance(location, Folder)
                else Uploaded(location, name, ours)
            )
        except OSError as error:
            raise not_written(f"The store {location} cannot be written", error) from None
        self._packs = set[str]()

    def add(self, episode: Episode) -> tuple[bytes, Episode]:
        """Store one episode; return its line as written and the episode as it will be read.

        Raises:
            BadInput: The disk is full (no partial line is left), or the episode cannot be encoded.
        """
        plain, read_back = _readable_line(episode)
        line = append_checksum(plain)
        for name in packs_of(episode.setup) - self._packs:
            keep_pack(self._at, packs.find(name))
            self._packs.add(name)
        try:
            self._lines.add(line)
        except OSError as error:
            raise not_written("The episode could not be stored", error) from None
        return line, read_back

    @property
    def file(self) -> str:
        """Final name of the local file; empty for a remote store, or if no line was written."""
        lines = self._lines
        return lines.done if isinstance(lines, AppendSink) else ""

    def sync(self) -> None:
        """Make everything added so far survive a crash of the machine."""
        try:
            self._lines.sync()
        except OSError as error:
            raise not_written("The episode could not be stored", error) from None

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._lines.close()
        except OSError as write_error:
            if error is None:
                raise not_written(f"The store {self._at} cannot be written", write_error) from None


class AppendSink:
    """A sink that appends lines to `NAME.open`, which is renamed to `NAME.jsonl` on close."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}{OPEN}"
        self.fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        fcntl.flock(self.fd, fcntl.LOCK_EX)  # released when the process ends, even if killed
        self._size = 0  # bytes of whole lines
        self.done = ""  # name of the finished file

    def add(self, line: bytes) -> None:
        try:
            if os.write(self.fd, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(self.fd, self._size)
            raise
        self._size += len(line)

    def sync(self) -> None:
        os.fsync(self.fd)

    def close(self) -> None:
        try:
            os.ftruncate(self.fd, self._size)  # an interrupt may have left a part of a line
            os.fsync(self.fd)
        finally:
            os.close(self.fd)
        if not self._size:
            self._path.unlink()
        else:
            self.done = self._path.with_suffix(DONE).name
            self._path.rename(self._path.with_suffix(DONE))


class Uploaded:
    """A sink that uploads lines as immutable parts, `NAME.0000.part`, and at the end as one file.

    Lines survive a crash once `HELD_SECONDS` have passed since they were added. The parts are
    removed once `NAME.jsonl`, which holds the same lines, is uploaded.
    """

    def __init__(self, location: Place, name: str, ours: Ours | None = None) -> None:
        self._at, self._first, self._files = location, name, 0
        self._ours = ours
        self._lock, self._over = Lock(), Event()
        self._failed: OSError | TakenOver | None = None  # raised in the background thread
        self._thread = Thread(target=self._upload_waiting, daemon=True)
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

    def _upload_waiting(self) -> None:
        """Upload waiting lines regularly, because the next episode may take minutes."""
        while not self._over.wait(max(HELD_SECONDS, 0.05)):
            with self._lock:
                try:
                    self._put_part()
                except (OSError, TakenOver) as error:
                    self._failed = error
                    return

    def _put_part(self) -> None:
        if not self._waiting:
            return
        self._check_ownership()
        name = f"{self._name}.{len(self._parts):04d}{PART}"
        self._at.write(name, bytes(self._waiting))
        self._parts.append(name)
        self._waiting.clear()
        self._since = time.monotonic()

    def _finish(self) -> None:
        if self._all:
            self._check_ownership()  # parts uploaded earlier stay if this raises
            self._at.write(f"{self._name}{DONE}", bytes(self._all))
        for name in self._parts:
            self._at.remove(name)
        self._all.clear()

    def _check_ownership(self) -> None:
        if self._ours is not None and not self._ours():
            raise TakenOver(self._name)


# --- encoding and words packs --------------------------------------------------------------------


def packs_of(setup: Setup) -> set[str]:
    """Return the references of all texts a setup uses: words packs and texts of the instance."""
    pack_params = [player.params.get("pack") for player in setup.lineup.values()]
    references = {name for name in pack_params if isinstance(name, str) and "@" in name}
    # An instance may refer to a text by its hash; it is stored like a pack.
    return references | {
        name for name in setup.instance.params.values() if packs.is_reference(name)
    }


def keep_pack(store: Where, pack: Pack) -> None:
    """Store the text of a pack once, under its hash."""
    try:
        place(store).create(
            f"packs/{packs.reference(pack).partition('@')[2]}.toml",
            packs.pack_as_toml(pack).encode(),
        )
    except OSError as error:
        raise not_written("A words pack could not be stored", error) from None


def check_storable(episode: Episode) -> None:
    """Raise BadInput if an episode holds a value that a store cannot keep."""
    _readable_line(episode)


def _readable_line(episode: Episode) -> tuple[bytes, Episode]:
    """Return the line of an episode and the episode decoded from it.

    Raises:
        BadInput: The episode holds a value that JSON cannot represent.
    """
    refused = f"Episode {episode.id} cannot be stored"
    try:
        line = to_line(episode)
        if b"null" in line and (path := _not_finite(msgspec.to_builtins(episode), "")):
            raise BadInput(f"{refused}: {path} is not a finite number.")
        return line, from_line(line)
    except (TypeError, msgspec.DecodeError) as error:
        raise BadInput(f"{refused}: {error}.") from None


def _not_finite(plain: Any, path: str) -> str | None:
    """Return the path of the first number that JSON would turn into null."""
    if isinstance(plain, float):
        return None if isfinite(plain) else path
    if isinstance(plain, dict):
        inside = ((value, f"{path}/{key}") for key, value in plain.items())
    elif isinstance(plain, list | tuple):
        inside = ((value, f"{path}/{i}") for i, value in enumerate(plain))
    else:
        return None
    return next(
        (inner_path for v, w in inside if (inner_path := _not_finite(v, w)) is not None), None
    )
