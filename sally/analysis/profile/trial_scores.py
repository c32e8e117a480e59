"""Scores of mindless players in trials, kept in the user's cache folder between commands.

They depend on the setup of a trial and on the code, whose fingerprint is part of the path; the
folder may be deleted at any time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b

import msgspec

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.frames import cache

MOST_KEPT = 20_000  # scores of a game
DIGEST_BYTES = 16


class TrialScores:
    """The scores of one game's trials, by the hash of setup and seat; None where the player cannot
    take part. Nothing is kept on disk while objects without known code are registered."""

    def __init__(self, game: str) -> None:
        self._path = cache.folder() / "trials" / f"{game}.msgpack"
        self._is_kept = not registry.added_in_memory()
        self._scores = self._read_stored() if self._is_kept else {}
        self._has_new = False

    def find(self, setup: Setup, seat: str, play: Callable[[], float | None]) -> float | None:
        """Return the score of a trial, which is played if it is not known."""
        content = msgspec.json.encode((setup, seat), order="sorted")
        key = blake2b(content, digest_size=DIGEST_BYTES).digest()
        if key not in self._scores:
            if len(self._scores) >= MOST_KEPT:
                self._scores.clear()
            self._scores[key] = play()
            self._has_new = True
        return self._scores[key]

    def save(self) -> None:
        """Write new scores to the cache folder, if it can be written."""
        if not (self._is_kept and self._has_new):
            return
        unfinished = self._path.with_suffix(f".{os.getpid()}")
        self._has_new = False
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(msgspec.msgpack.encode(self._read_stored() | self._scores))
            unfinished.replace(self._path)

    def _read_stored(self) -> dict[bytes, float | None]:
        """Return the scores in the cache folder; none if they cannot be read or are too many."""
        with suppress(OSError, msgspec.DecodeError):
            content = self._path.read_bytes()
            stored = msgspec.msgpack.decode(content, type=dict[bytes, float | None])
            return stored if len(stored) < MOST_KEPT else {}
        return {}
