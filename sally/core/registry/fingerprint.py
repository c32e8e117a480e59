"""Fingerprint of the code and data that a result depends on besides the episode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.metadata import entry_points
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
    files = [(str(p.relative_to(home)), *_times(p)) for p in _files(home)]
    theirs = [(str(p), *_times(p)) for path in added for p in _files(path)]
    entries = sorted(
        (entry.group, entry.name, entry.value, entry.dist.version if entry.dist else "")
        for group in ("games", "metrics", "partners", "players")
        for entry in entry_points(group=f"sally.{group}")
    )
    said = msgspec.json.encode((sorted(files), theirs, entries, *objects))
    return blake2b(said, digest_size=12).hexdigest()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder, _, names in os.walk(path):
        found = (Path(folder, name) for name in names if not name.endswith(".pyc"))
        yield from filter(Path.is_file, found)


def _times(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
