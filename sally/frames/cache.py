"""Tables on disk: one Parquet file for each file of lines and table, in the user's cache folder.

A table is found by the hash of its lines, of the words packs beside them and of the code that
measures (`sally.core.registry.fingerprint`), so it is never out of date. The folder `frames` may be
deleted at any time; tables are then built again, in parallel if that takes long. Where the folder
cannot be written, everything works without it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import Any, BinaryIO

import msgspec
import polars as pl

from sally.core.cache_dir import cache_folder
from sally.core.registry import registry
from sally.core.registry.fingerprint import fingerprint
from sally.frames.build import METRICS, PROFILES, schema_of, without_zeros

DIGEST_BYTES = 20
SETTLED = 2.0  # seconds after which another write would change the times of a file
UNUSED_DAYS = 30  # after which tables are deleted
_BLOCK = 1 << 20


def folder() -> Path:
    """Return the folder of the tables measured by the installed code."""
    return cache_folder() / "frames" / fingerprint()


def path_of(digest: str, table: str) -> Path:
    """Return the path of a table."""
    return folder() / digest[:2] / f"{digest}.{table.replace(' ', '-')}.parquet"


def digest_of(blocks: Iterable[bytes], packs: Sequence[str] = ()) -> str:
    """Return the key of a file of lines: its content and the names of the store's words packs,
    which are hashes."""
    content_hash = blake2b(digest_size=DIGEST_BYTES)
    for block in blocks:
        content_hash.update(block)
    return with_packs(content_hash, packs)


def with_packs(content_hash: Any, packs: Sequence[str]) -> str:
    """Return the key of a file from the hash of its content and the names of words packs."""
    content_hash.update(msgspec.json.encode(sorted(packs)))
    return str(content_hash.hexdigest())


def blocks_of(file: BinaryIO) -> Iterable[bytes]:
    """Yield the content of a file in blocks."""
    while block := file.read(_BLOCK):
        yield block


# --- tables ---------------------------------------------------------------------------------------


def has(digest: str, table: str, metrics: Collection[str] = ()) -> bool:
    """Return whether a table is in the cache, with these metrics."""
    if not path_of(digest, table).exists():
        return False
    return table != METRICS or set(metrics) <= columns(digest, table)


def columns(digest: str, table: str) -> set[str]:
    """Return the columns of a table in the cache; none if it is damaged."""
    try:
        return set(pl.read_parquet_schema(path_of(digest, table)))
    except (OSError, pl.exceptions.PolarsError):
        return set()


def scan(digest: str, table: str, fields: Sequence[str]) -> pl.LazyFrame:
    """Return some columns of a table that is in the cache."""
    types = schema_of(table, fields)
    path = path_of(digest, table)
    lazy = pl.scan_parquet(
        path, schema=types, missing_columns="insert", extra_columns="ignore", glob=False
    )
    return lazy.select(fields)


def write(digest: str, tables: Mapping[str, pl.DataFrame]) -> None:
    """Keep tables; metrics are added to those already in the cache."""
    remove_unused()
    for name, table in tables.items():
        path = path_of(digest, name)
        if name == METRICS and path.exists():
            with suppress(OSError, pl.exceptions.PolarsError):
                cached = pl.read_parquet(path, glob=False)
                table = cached.with_columns(table) if cached.height == table.height else table
        if name.startswith(PROFILES):
            table = without_zeros(table)
        _write(table, path)


def _write(table: pl.DataFrame, path: Path) -> None:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        content = BytesIO()  # polars does not raise OSError if it cannot write a file
        table.write_parquet(content, compression="zstd", statistics=False)
        unfinished.write_bytes(content.getbuffer())
        unfinished.replace(path)
    except OSError:  # a full disk or a read-only folder: the table is built again next time
        with suppress(OSError):
            unfinished.unlink()


def in_memory_only(games: Iterable[str]) -> bool:
    """Return whether a game was registered by a program and not by a file, so that tables of it
    cannot be kept: its code has no fingerprint."""
    added = registry.added_in_memory("games") | registry.added_in_memory("partners")
    return bool(added) and not added.isdisjoint(games)


def cacheable(metrics: Iterable[str]) -> list[str]:
    """Return the metrics that may be kept: those that no program registered in memory."""
    added = registry.added_in_memory("metrics")
    return [name for name in metrics if name not in added]


@cache
def remove_unused() -> None:
    """Delete the tables of other versions of the code that built none for a month; once per
    process."""
    newest = time.time() - UNUSED_DAYS * 86400
    with suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        os.utime(folder())
        for version in folder().parent.iterdir():
            if version.stat().st_mtime < newest:
                rmtree(version, ignore_errors=True)


# --- hashes of files ------------------------------------------------------------------------------


class KnownDigests:
    """The hashes of a store's files by size and times, so that an unchanged file is not read."""

    def __init__(self, store: Path, packs: Sequence[str]) -> None:
        self._store, self._packs = store, packs
        name = blake2b(str(store.resolve()).encode(), digest_size=DIGEST_BYTES).hexdigest()
        self._path = cache_folder() / "frames" / "digests" / f"{name}.json"
        self._known: dict[str, tuple[str, str]] = {}
        self._is_changed = False
        with suppress(OSError, msgspec.DecodeError):
            self._known = msgspec.json.decode(self._path.read_bytes(), type=dict[str, Any])

    def digest(self, name: str) -> str:
        """Return the hash of a file, which is read if it changed."""
        stat = _stat(self._store / name, self._packs)
        recorded = self._known.get(name, ("", ""))
        if stat and recorded[0] == stat:
            return recorded[1]
        with (self._store / name).open("rb") as file:
            digest = digest_of(blocks_of(file), self._packs)
        if stat and stat == _stat(self._store / name, self._packs):
            self._known[name] = (stat, digest)
            self._is_changed = True
        return digest

    def save(self) -> None:
        """Keep the hashes for the next command."""
        if self._is_changed:
            unfinished = self._path.with_suffix(f".{os.getpid()}")
            with suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                unfinished.write_bytes(msgspec.json.encode(self._known))
                unfinished.replace(self._path)


def _stat(path: Path, packs: Sequence[str]) -> str:
    """Return a text that changes whenever the file changes; empty if the file changed so recently
    that a further change could go unnoticed."""
    stat = path.stat()
    if time.time() - max(stat.st_mtime, stat.st_ctime) < SETTLED:
        return ""
    return f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {sorted(packs)}"
