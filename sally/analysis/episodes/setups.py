"""Which episodes were set up alike: the same but for seed and repeat."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from sally.core.log.events import Episode
from sally.core.rules.metric import Played
from sally.store.index import Columns

COLUMN = "setups"


class Piece(msgspec.Struct, array_like=True):
    """How the lines of a piece were set up, by number; -1 where a line holds no episode."""

    setup: list[int]
    setups: list[bytes]  # by number, what tells one way to set up from another


_DECODER = msgspec.msgpack.Decoder(Piece)


def piece_of(column: bytes) -> Piece:
    """What a column of the index says."""
    return _DECODER.decode(column)


class SetupsColumn:
    """The column of setups, line by line."""

    def __init__(self) -> None:
        self._made = Piece([], [])
        self._known: dict[bytes, int] = {}

    def add(self, found: Episode | str, whole: Played | None = None) -> None:
        """Note how an episode was set up, or that there is none."""
        made = self._made
        if isinstance(found, str):
            made.setup.append(-1)
            return
        s = found.setup
        shared = (s.instance, s.lineup, s.version, s.arms, s.injections, s.retries, s.fork)
        asked = msgspec.msgpack.encode((found.cell, found.used, shared))
        number = self._known.setdefault(asked, len(self._known))
        if number == len(made.setups):
            made.setups.append(blake2b(asked, digest_size=16).digest())
        made.setup.append(number)

    def columns(self) -> Columns:
        """What was noted, as the index keeps it."""
        return {COLUMN: msgspec.msgpack.encode(self._made)}
