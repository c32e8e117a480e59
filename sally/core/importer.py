"""An importer: games that were recorded elsewhere become episodes, and what does not fit is named.

A paper declares its own as `IMPORTER`; the shelf finds it, and `sally import NAME PATH` runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from sally.core.log import Episode

RECORDED = "recorded"  # who sits where somebody's play was recorded elsewhere
HUMAN = "human"  # the name of a recorded person


class Oddity(msgspec.Struct, frozen=True):
    """Something in a source that is not as it should be, and where."""

    file: str
    what: str
    why: str
    line: int | None = None


class Difference(msgspec.Struct, frozen=True):
    """Something in a record that our rules or our bots do not give back."""

    game: str  # which of the recorded games
    what: str
    turn: int | None  # the round or message, from 1; None: the whole game
    recorded: str
    ours: str


class Imported(msgspec.Struct, frozen=True):
    """What came of an import."""

    episodes: tuple[Episode, ...]
    oddities: tuple[Any, ...]
    differences: tuple[Any, ...]
    counts: dict[str, int]


def lines_of(found: Imported) -> Iterator[str]:
    """Every oddity and every difference, one a line."""
    for odd in found.oddities:
        place = odd.file if odd.line is None else f"{odd.file}:{odd.line}"
        yield f"{odd.what}: {place}: {odd.why}"
    for d in found.differences:
        at = "" if d.turn is None else f", round {d.turn}"
        yield f"differs in {d.what}: {d.game}{at}: recorded {d.recorded}, ours {d.ours}"


@dataclass(frozen=True)
class Importer:
    """How the records of one source are taken in."""

    name: str
    about: str
    imported: Callable[[Path], Imported]
    lines: Callable[[Imported], Iterator[str]] = lines_of  # what a person is told, line by line


class Source(msgspec.Struct, frozen=True):
    """Where a record comes from, kept with each of its episodes."""

    source: str
    licence: str
    file: str
    sha256: str

    @classmethod
    def of(cls, source: str, licence: str, file: str, data: bytes) -> Source:
        """The provenance of a file that has been read."""
        return cls(source, licence, file, sha256(data).hexdigest())
