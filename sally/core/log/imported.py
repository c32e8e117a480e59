"""What importers have in common: who was recorded, where a record comes from, what does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.registry.paper import Imported

RECORDED = "recorded"  # who sits where somebody's play was recorded elsewhere
HUMAN = "human"  # the name of a recorded person


class Oddity(msgspec.Struct, frozen=True):
    """Something in a source that is not as it should be, and where."""

    file: str
    what: str
    why: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{self.what}: {place}: {self.why}"


class Difference(msgspec.Struct, frozen=True):
    """Something in a record that our rules or our bots do not give back."""

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
    """Where a record comes from, kept with each of its episodes."""

    source: str
    licence: str
    file: str
    sha256: str

    @classmethod
    def of(cls, source: str, licence: str, file: str, data: bytes) -> Source:
        """The provenance of a file that has been read."""
        return cls(source, licence, file, sha256(data).hexdigest())


class NotPublished(BadInput):
    """A file is not the published one, or not all of it: nothing is taken in."""


@contextmanager
def or_listed(odd: list[Oddity], file: str, what: str) -> Iterator[None]:
    """What is wrong with one record is listed with it, and the others are taken in."""
    try:
        yield
    except NotPublished:
        raise
    except BadInput as why:
        odd.append(Oddity(file, what, str(why)))
    except Exception as why:  # a record of anybody's holds anything
        odd.append(Oddity(file, what, f"it is not as published ({type(why).__name__}: {why})"))


def told(
    episodes: Sequence[Episode],
    oddities: Sequence[Oddity],
    differences: Sequence[Difference],
    counts: dict[str, int],
) -> Imported:
    """What came of an import, with every oddity and difference in words and as data."""
    lines = tuple(str(each) for each in (*oddities, *differences))
    details = {
        "oddities": [msgspec.to_builtins(each) for each in oddities],
        "differences": [msgspec.to_builtins(each) for each in differences],
    }
    return Imported(tuple(episodes), counts, lines, details)
