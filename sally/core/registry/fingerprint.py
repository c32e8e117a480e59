"""Fingerprint of the code and data that a result depends on besides the episode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from sally.core.code_hash import code_hash
from sally.core.registry import registry


def fingerprint() -> str:
    """Return a hash that changes with this package, the user's files and registered objects, or
    installed entry points."""
    objects = ((*key, code_hash(value)) for key, value in registry.added_objects().items())
    return _of(registry.added_files(), tuple(sorted(objects)))


@cache
def _of(added: tuple[Path, ...], objects: tuple[tuple[str, str, int], ...]) -> str:
    home = Path(__file__).parents[2]  # the whole package: games and metrics measure
    start = len(str(home)) + 1
    files = [(path[start:], *times) for path, *times in _files(home)]
    added_files = [file for path in added for file in _files(path)]
    entries = sorted(
        (entry.group, entry.name, entry.value, entry.dist.version if entry.dist else "")
        for group in ("games", "metrics", "partners", "players")
        for entry in registry.entry_points(group=f"sally.{group}")
    )
    content = msgspec.json.encode((sorted(files), added_files, entries, *objects))
    return blake2b(content, digest_size=12).hexdigest()


def _files(place: Path) -> Iterator[tuple[str, int, int]]:
    """Yield each file with its size and the time of its last change; compiled files, which other
    processes may be writing, are left out."""
    if place.is_file():
        status = place.stat()
        yield str(place), status.st_size, status.st_mtime_ns
    elif place.is_dir():
        yield from _files_in(str(place))


def _files_in(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:  # there are thousands; an entry knows whether it is a file
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files_in(entry.path)
            elif not entry.name.endswith(".pyc") and entry.is_file():
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
