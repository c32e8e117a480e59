"""Where a store lives: a local folder, or any address that fsspec knows.

A place holds whole files under names such as `study.json` or `packs/x.toml`. A file appears under
its name all at once: by a rename, or by a single put where the service makes that atomic.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from sally.core.errors import BadInput

# A put to these is seen whole or not at all; elsewhere a file is written aside and renamed.
SINGLE_PUT = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "memory"})


class Place(Protocol):
    """A folder of whole files, near or far; what goes wrong with one is an OSError."""

    def exists(self) -> bool:
        """Whether anything is there."""

    def names(self, under: str = "") -> list[str]:
        """The names of the files in a folder of the place, in order; none if it is not there."""

    def read(self, name: str) -> bytes:
        """All of a file."""

    def put(self, name: str, data: bytes) -> None:
        """A file, whole or not at all, in the place of an earlier one."""

    def create(self, name: str, data: bytes, lasting: bool = True) -> bool:
        """A new file, whole or not at all; False if the name is taken.

        One that is not `lasting` is not waited for: a power cut may take it, or empty it.
        """

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""


Where = str | Path | Place


def place(where: Where) -> Place:
    """The place that a path, an address or a place itself means."""
    if isinstance(where, Path):
        return Folder(where)
    if isinstance(where, str):
        return Remote(where) if "://" in where else Folder(Path(where))
    return where


def is_address(where: str) -> bool:
    """Whether a text names a place that is reached through fsspec."""
    return "://" in where


class Folder:
    """A folder on this machine, or one that is mounted here."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return self.path.is_dir()

    def names(self, under: str = "") -> list[str]:
        try:
            with os.scandir(self.path / under) as found:
                # Not asked whether each is a file: that is a call each, and all of ours are.
                return sorted(entry.name for entry in found if not entry.name.startswith("."))
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        path = self.path / name
        if not stat.S_ISREG(path.stat().st_mode):  # to open a pipe would be to wait for ever
            raise OSError(errno.EINVAL, "it is no plain file")
        return path.read_bytes()

    def put(self, name: str, data: bytes) -> None:
        self._aside(name, data).rename(self.path / name)

    def create(self, name: str, data: bytes, lasting: bool = True) -> bool:
        aside = self._aside(name, data, lasting)
        try:
            os.link(aside, self.path / name)  # unlike a rename, this fails if the name is taken
        except FileExistsError:
            return False
        finally:
            aside.unlink()
        return True

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def _aside(self, name: str, data: bytes, lasting: bool = True) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            with aside.open("wb") as file:
                file.write(data)
                file.flush()
                if lasting:
                    os.fsync(file.fileno())
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        return aside


class Remote:
    """An address of fsspec: `s3://bucket/study`, `gs://...`, `sftp://...`, `memory://...`."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._fs, self._root = _filesystem(address)
        protocols = self._fs.protocol
        names = (protocols,) if isinstance(protocols, str) else protocols
        self._single_put = not SINGLE_PUT.isdisjoint(names)

    def __str__(self) -> str:
        return self.address

    @property
    def in_one_process(self) -> bool:
        """Whether no other process sees what is put here."""
        return self.address.startswith("memory:")

    def exists(self) -> bool:
        with self._said():
            self._fs.invalidate_cache()
            return bool(self._fs.exists(self._root))

    def names(self, under: str = "") -> list[str]:
        folder = f"{self._root}/{under}".rstrip("/")
        with self._said():
            self._fs.invalidate_cache()  # others write too
            try:
                found = self._fs.ls(folder, detail=True)
            except FileNotFoundError:
                return []
        files = (entry["name"] for entry in found if entry["type"] == "file")
        names = (str(name).rpartition("/")[2] for name in files)
        return sorted(name for name in names if not name.startswith("."))

    def read(self, name: str) -> bytes:
        with self._said():
            return bytes(self._fs.cat_file(f"{self._root}/{name}"))

    def put(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        with self._said():
            if self._single_put:
                self._fs.pipe_file(path, data)
                return
            folder, _, file = path.rpartition("/")
            self._fs.makedirs(folder, exist_ok=True)
            aside = f"{folder}/.{file}.{secrets.token_hex(4)}"
            try:
                self._fs.pipe_file(aside, data)
                self._fs.mv(aside, path)
            except BaseException:
                with suppress(Exception):
                    self._fs.rm_file(aside)
                raise

    def create(self, name: str, data: bytes, lasting: bool = True) -> bool:
        """As exclusive as the service makes it: some look first and put then."""
        path = f"{self._root}/{name}"
        with self._said():
            if not self._single_put:
                self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            try:
                self._fs.pipe_file(path, data, mode="create")
            except FileExistsError:
                return False
        return True

    def remove(self, name: str) -> None:
        with self._said(), suppress(FileNotFoundError):
            self._fs.rm_file(f"{self._root}/{name}")

    def put_at(self, name: str) -> float:
        """When a file was put, by the clock of the service; 0 where it does not say."""
        try:
            return float(self._fs.modified(f"{self._root}/{name}").timestamp())
        except Exception:  # not every service knows, and a file may be gone by now
            return 0.0

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Whatever a service raises, as an OSError with a sentence."""
        try:
            yield
        except OSError as why:
            if why.strerror is None:
                raise type(why)(why.errno or errno.EIO, str(why) or type(why).__name__) from why
            raise
        except Exception as why:
            raise OSError(errno.EIO, f"{type(why).__name__}: {why}") from why


def _filesystem(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]
    except ImportError:
        raise BadInput(
            f"The store {address} is reached through fsspec, which is not installed; "
            "`pip install 'sally-lab[stores]'` brings it."
        ) from None
    try:
        fs, root = url_to_fs(address)
    except (ImportError, ValueError) as why:
        raise BadInput(f"The store {address} cannot be reached: {why}.") from None
    return fs, str(root).rstrip("/")
