"""Locations of stores: a local folder, or any address that fsspec supports.

A place holds files under names such as `study.json` or `packs/x.toml`. A file appears atomically:
by a rename, or by a single upload where the service guarantees that.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from sally.core.errors import BadInput, install_command

log = logging.getLogger(__name__)

# Uploads to these are atomic; elsewhere a temporary file is written and renamed.
SINGLE_PUT = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "memory"})


class Place(Protocol):
    """A local or remote folder of files; failures raise OSError."""

    def exists(self) -> bool:
        """Return whether the folder exists."""

    def names(self, folder: str = "") -> list[str]:
        """Return the sorted file names of a subfolder; empty if it does not exist."""

    def read(self, name: str) -> bytes:
        """Return the content of a file."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically, replacing an earlier one."""

    def create(self, name: str, data: bytes, lasting: bool = True) -> bool:
        """Create a file atomically; return False if the name is taken.

        Without `lasting` the file is not flushed to disk: a power failure may lose or empty it.
        """

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""


Where = str | Path | Place


def place(store: Where) -> Place:
    """Return the location of a store as a `Place`, from a path or an address; a `Place` is returned
    unchanged."""
    if isinstance(store, Path):
        return Folder(store)
    if isinstance(store, str):
        return Remote(store) if "://" in store else Folder(Path(store))
    return store


def is_address(text: str) -> bool:
    """Return whether a text is an address for fsspec."""
    return "://" in text


class Folder:
    """A local or mounted folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return self.path.is_dir()

    def names(self, folder: str = "") -> list[str]:
        try:
            with os.scandir(self.path / folder) as entries:
                # No is_file() check: it costs a system call per entry, and stores hold only files.
                return sorted(entry.name for entry in entries if not entry.name.startswith("."))
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        path = self.path / name
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would block
            raise OSError(errno.EINVAL, "it is not a regular file")
        return path.read_bytes()

    def write(self, name: str, data: bytes) -> None:
        self._temporary(name, data).rename(self.path / name)

    def create(self, name: str, data: bytes, lasting: bool = True) -> bool:
        aside = self._temporary(name, data, lasting)
        try:
            os.link(aside, self.path / name)  # unlike a rename, this fails if the name is taken
        except FileExistsError:
            return False
        finally:
            aside.unlink()
        return True

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def _temporary(self, name: str, data: bytes, lasting: bool = True) -> Path:
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
    """A folder at an fsspec address, such as `s3://bucket/study`, `sftp://...`, `memory://...`."""

    def __init__(self, address: str) -> None:
        if re.search(r"://[^/@]*:[^/@]*@", address):
            raise BadInput(
                "The address of the store holds a password; give it through the environment or the "
                "configuration of fsspec."
            )
        self.address = address.rstrip("/")
        self._fs, self._root = _filesystem(address)
        protocols = self._fs.protocol
        names = (protocols,) if isinstance(protocols, str) else protocols
        self._single_put = not SINGLE_PUT.isdisjoint(names)

    def __str__(self) -> str:
        return self.address

    @property
    def in_one_process(self) -> bool:
        """Whether the content is visible to this process only."""
        return self.address.startswith("memory:")

    def exists(self) -> bool:
        with self._as_os_error():
            self._fs.invalidate_cache()
            return bool(self._fs.exists(self._root))

    def names(self, subfolder: str = "") -> list[str]:
        folder = f"{self._root}/{subfolder}".rstrip("/")
        with self._as_os_error():
            self._fs.invalidate_cache()  # other processes write too
            try:
                entries = self._fs.ls(folder, detail=True)
            except FileNotFoundError:
                return []
        files = (entry["name"] for entry in entries if entry["type"] == "file")
        names = (str(name).rpartition("/")[2] for name in files)
        return sorted(name for name in names if not name.startswith("."))

    def read(self, name: str) -> bytes:
        with self._as_os_error():
            return bytes(self._fs.cat_file(f"{self._root}/{name}"))

    def write(self, name: str, data: bytes) -> None:
        path = f"{self._root}/{name}"
        with self._as_os_error():
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
        """Create a file; two processes may both succeed if check and upload are separate steps."""
        path = f"{self._root}/{name}"
        with self._as_os_error():
            if not self._single_put:
                self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            try:
                self._fs.pipe_file(path, data, mode="create")
            except FileExistsError:
                return False
        return True

    def remove(self, name: str) -> None:
        with self._as_os_error(), suppress(FileNotFoundError):
            self._fs.rm_file(f"{self._root}/{name}")

    def put_at(self, name: str) -> float:
        """Return the upload time of a file by the service's clock, or 0 if unknown."""
        try:
            return float(self._fs.modified(f"{self._root}/{name}").timestamp())
        except Exception as error:  # services differ in what they raise if they do not know
            log.debug("The upload time of %s in %s is unknown: %r", name, self, error)
            return 0.0

    @contextmanager
    def _as_os_error(self) -> Iterator[None]:
        """Convert any exception of a service to an OSError with a message."""
        try:
            yield
        except OSError as error:
            if error.strerror is None:
                raise type(error)(
                    error.errno or errno.EIO, str(error) or type(error).__name__
                ) from error
            raise
        except Exception as error:
            raise OSError(errno.EIO, f"{type(error).__name__}: {error}") from error


def _filesystem(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]
    except ImportError:
        raise BadInput(
            f"The store {address} needs fsspec, which is not installed; "
            f"install it with `{install_command('stores')}`."
        ) from None
    try:
        fs, root = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise BadInput(f"The store {address} cannot be reached: {error}.") from None
    return fs, str(root).rstrip("/")
