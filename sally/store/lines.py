"""One line of a store: an episode with a checksum."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import SCHEMA, Episode, from_line
from sally.core.registry.validation import log_problem

_SUM = re.compile(rb',"sum":"([0-9a-f]{16})"}\n$')  # end of a line with a checksum
SUM_BYTES = 28
INCOMPLETE = "the line is incomplete"
CHANGED = "the line was changed after it was written: its checksum does not match"
MOST_REMEMBERED = 500_000  # hashes of valid lines kept in memory
_VALID: set[int] = set()  # hashes of lines already validated by this process


def why_wrong(line: bytes, episode: Episode) -> str | None:
    """Return why an episode is invalid, or None; each line is validated once per process."""
    if (line_hash := hash(line)) in _VALID:
        return None
    if (problem := log_problem(episode)) is not None:
        return f"the line is wrong: {problem}"
    if len(_VALID) >= MOST_REMEMBERED:
        _VALID.clear()
    _VALID.add(line_hash)
    return None


def sound_line(line: bytes) -> Episode | str:
    """Return the validated episode of a line, or why the line is invalid."""
    episode = read_line(line)
    return episode if isinstance(episode, str) else why_wrong(line, episode) or episode


def read_line(line: bytes, sums: bool = True) -> Episode | str:
    """Return the episode of a line, or why the line is unreadable."""
    if not line.endswith(b"\n"):
        return INCOMPLETE
    try:
        if (head := _head(line)) is None:
            return "the line is not a record"
        version = head.schema
        if version != SCHEMA:
            msgspec.json.decode(line)  # raises if the line is not JSON at all
            return f"schema version {version} is unknown; this Sally reads version {SCHEMA}"
        if sums and head.sum is not msgspec.UNSET and not _is_as_written(line):
            return CHANGED
        episode = from_line(line)
        episode.end  # noqa: B018  raises if the episode has no end
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, BadInput) as error:
        return f"the line is corrupt: {error}"
    return episode


class _Head(msgspec.Struct):
    """The fields that determine how a line is decoded."""

    schema: Any = None
    sum: Any = msgspec.UNSET


_HEAD = msgspec.json.Decoder(_Head)


def _head(line: bytes) -> _Head | None:
    try:
        return _HEAD.decode(line)
    except msgspec.ValidationError:
        msgspec.json.decode(line)  # raises if it is not JSON
        return None


def is_sealed(line: bytes) -> bool:
    """Return whether a line ends with its checksum, and the checksum matches."""
    return line.endswith(b'"}\n') and _is_as_written(line)


def was_changed(line: bytes) -> bool:
    """Return whether the checksum of a line does not match."""
    return read_line(line) == CHANGED


def _is_as_written(line: bytes) -> bool:
    checksum = _SUM.search(line, max(0, len(line) - SUM_BYTES))
    return checksum is not None and checksum[1] == sum_of(line[: checksum.start()])


def append_checksum(line: bytes) -> bytes:
    """Return the line with a checksum appended, which reveals any changed byte."""
    body = line.removesuffix(b"}\n")
    return body + b',"sum":"' + sum_of(body) + b'"}\n'


def sum_of(body: bytes) -> bytes:
    """Return the checksum of a line without its checksum field."""
    return blake2b(body, digest_size=8).hexdigest().encode()
