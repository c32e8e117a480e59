"""Code shared by importers: provenance, recorded players, irregularities and differences."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.registry.paper import Imported

_log = logging.getLogger(__name__)

RECORDED = "recorded"  # the player in a seat whose moves were recorded elsewhere
HUMAN = "human"  # the name of a recorded person


class Oddity(msgspec.Struct, frozen=True):
    """An irregularity in a source, with its location."""

    file: str
    what: str
    why: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{self.what}: {place}: {self.why}"


class Difference(msgspec.Struct, frozen=True):
    """A difference between a record and what our rules or bots produce."""

    game: str  # which of the recorded games
    what: str
    turn: int | None  # the round, from 1; None: the whole game
    recorded: str
    ours: str

    def __str__(self) -> str:
        at = "" if self.turn is None else f", round {self.turn}"
        return (
            f"differs in {self.what}: {self.game}{at}: recorded {self.recorded}, ours {self.ours}"
        )


class Source(msgspec.Struct, frozen=True):
    """Provenance of a record, stored with each of its episodes."""

    source: str
    licence: str
    file: str
    sha256: str

    @classmethod
    def of(cls, source: str, licence: str, file: str, data: bytes) -> Source:
        """Return the provenance of a file that has been read."""
        return cls(source, licence, file, sha256(data).hexdigest())


class NotPublished(BadInput):
    """Raised if a file is not the published one or is incomplete; nothing is imported."""


@contextmanager
def listing_errors(odd: list[Oddity], file: str, what: str) -> Iterator[None]:
    """Append an error raised in the block to `odd` instead of stopping the import."""
    try:
        yield
    except NotPublished:
        raise
    except BadInput as why:
        odd.append(Oddity(file, what, str(why)))
    except Exception as why:  # a third-party record may hold anything
        _log.debug("%s: %s was not imported", file, what, exc_info=True)
        odd.append(Oddity(file, what, f"it is not as published ({type(why).__name__}: {why})"))


def import_result(
    episodes: Sequence[Episode],
    oddities: Sequence[Oddity],
    differences: Sequence[Difference],
    counts: dict[str, int],
) -> Imported:
    """Return the result of an import, with differences and irregularities as text and as data."""
    lines = tuple(str(each) for each in (*differences, *oddities))
    details = {
        "oddities": [msgspec.to_builtins(each) for each in oddities],
        "differences": [msgspec.to_builtins(each) for each in differences],
    }
    return Imported(tuple(episodes), counts, lines, details)
