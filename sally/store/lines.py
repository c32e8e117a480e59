"""One line of a store: an episode that says its own sum, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import SCHEMA, Episode, from_line
from sally.core.log.validation import unsound

_SUM = re.compile(rb',"sum":"([0-9a-f]{16})"}\n$')  # how a line ends that says its own sum
SUM_BYTES = 28
CHANGED = "the line was changed after it was written: its sum is another"
MOST_REMEMBERED = 500_000  # lines that this process has found to be sound
_SOUND: set[int] = set()  # their hashes, so that one command does not work them out twice


def why_wrong(line: bytes, episode: Episode) -> str | None:
    """Why an episode cannot have been played as its line says; worked out once a line."""
    if (seen := hash(line)) in _SOUND:
        return None
    if (why := unsound(episode)) is not None:
        return f"the line is wrong: {why}"
    if len(_SOUND) >= MOST_REMEMBERED:
        _SOUND.clear()
    _SOUND.add(seen)
    return None


def sound_line(line: bytes) -> Episode | str:
    """The episode of a line that can have been played as it says, or why there is none."""
    found = read_line(line)
    return found if isinstance(found, str) else why_wrong(line, found) or found


def read_line(line: bytes, sums: bool = True) -> Episode | str:
    """The episode of a line, whatever its schema version, or why there is none."""
    if not line.endswith(b"\n"):
        return "the line is torn"
    try:
        if (head := _head(line)) is None:
            return "the line is no record"
        if sums and head.sum is not msgspec.UNSET and not _is_as_written(line):
            return CHANGED
        version = head.schema
        plain = None if version == SCHEMA else msgspec.json.decode(line)
        if plain is None:
            episode = from_line(line)
        elif type(version) is int and version in MIGRATIONS:
            episode = msgspec.convert(migrated(plain), Episode)
        else:
            return f"schema version {version} is unknown; this Sally reads up to {SCHEMA}"
        episode.end  # noqa: B018  an episode without an end is no episode
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, BadInput) as why:
        return f"the line is corrupt: {why}"
    return episode


class _Head(msgspec.Struct):
    """What says how a line is to be read."""

    schema: Any = None
    sum: Any = msgspec.UNSET


_HEAD = msgspec.json.Decoder(_Head)


def _head(line: bytes) -> _Head | None:
    try:
        return _HEAD.decode(line)
    except msgspec.ValidationError:
        msgspec.json.decode(line)  # whether it is JSON at all
        return None


def was_changed(line: bytes) -> bool:
    """Whether a line says a sum that is not its own."""
    return read_line(line) == CHANGED


def _is_as_written(line: bytes) -> bool:
    said = _SUM.search(line, max(0, len(line) - SUM_BYTES))
    return said is not None and said[1] == sum_of(line[: said.start()])


def sealed(line: bytes) -> bytes:
    """A line with its own sum at the end, so that no byte of it can change unseen."""
    body = line.removesuffix(b"}\n")
    return body + b',"sum":"' + sum_of(body) + b'"}\n'


def sum_of(body: bytes) -> bytes:
    """The sum of a line, without the end that says it."""
    return blake2b(body, digest_size=8).hexdigest().encode()


def migrated(plain: dict[str, Any]) -> dict[str, Any]:
    """A stored record of an older schema in the present one, step by step."""
    while (version := plain["schema"]) != SCHEMA:
        try:
            plain = {**MIGRATIONS[version](plain), "schema": version + 1}
        except (LookupError, TypeError, ValueError, AttributeError) as why:
            raise BadInput(f"it does not migrate from schema version {version}: {why!r}") from None
    return plain


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}  # version -> to the next
