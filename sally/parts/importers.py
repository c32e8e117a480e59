"""Code shared by importers: files, provenance, recorded players, irregularities and
differences."""

from __future__ import annotations

import csv
import io
import logging
import pickle
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, overload

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.log.events import Episode, PlayerSpec
from sally.core.match.partner import Partner, Script
from sally.core.registry.paper import ImportResult
from sally.core.rules.game import Seat

_log = logging.getLogger(__name__)

RECORDED = "recorded"  # the player in a seat whose moves were recorded elsewhere
HUMAN = "human"  # the name of a recorded person
NOT_IMPORTED = "not imported"  # the kind of irregularity of a game that could not be read
POINTER = b"version https://git-lfs"  # start of a file that Git LFS has not fetched
MOST_SHOWN = 120  # characters of a recorded text in a line about a difference
LARGEST_CELL = 10_000_000  # characters; a cell may hold a model's whole reply


def recorded_player(name: str, participant: str = "") -> PlayerSpec:
    """Return the spec of a player whose moves were recorded: a model, a bot or, as `HUMAN`, a
    person."""
    params = {"name": name} if not participant else {"name": name, "participant": participant}
    return PlayerSpec(RECORDED, params, {"player": 1})


def recorded_partner(**params: Any) -> Partner:
    """Return the partner that stands for the recorded players of a game; it cannot make moves."""

    def make(game: Any, seat: Seat, **params: Any) -> Script:
        raise BadInput("this player exists only in imported records and cannot make moves")

    about = "a player whose moves were recorded elsewhere"
    return Partner(RECORDED, about, "imported games", make, params=params, helps=True)


class Oddity(msgspec.Struct, frozen=True):
    """An irregularity in a source, with its location."""

    file: str
    what: str
    why: str
    line: int | None = None

    @property
    def place(self) -> str:
        """The file and, if known, the line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.what}: {self.place}: {self.why}"


class Difference(msgspec.Struct, frozen=True):
    """A difference between a record and what our rules or bots produce."""

    game: str  # which of the recorded games
    what: str
    turn: int | None  # the round, from 1; None: the whole game
    recorded: str
    ours: str

    def __str__(self) -> str:
        round_text = "" if self.turn is None else f", round {self.turn}"
        recorded, ours = map(_short, (self.recorded, self.ours))
        return f"differs in {self.what}: {self.game}{round_text}: recorded {recorded}, ours {ours}"


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


class Source(msgspec.Struct, frozen=True):
    """Provenance of a record, stored with each of its episodes."""

    source: str
    licence: str
    file: str
    sha256: str

    @classmethod
    def of(cls, source: str, licence: str, file: str, data: bytes) -> Source:
        """Return the provenance of a file that has been read."""
        return cls(source, licence, file, _digest(data))


@lru_cache(maxsize=1)  # the episodes of a file follow one another
def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


class PersonNumbers:
    """Numbers that replace the ids of people, in the order in which the ids occur.

    >>> people = PersonNumbers("m")
    >>> people["a8f3"], people["77c1"], people["a8f3"]
    ('m001', 'm002', 'm001')
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._numbers: dict[str, str] = {}

    def __getitem__(self, person: str) -> str:
        return self._numbers.setdefault(person, f"{self._prefix}{len(self._numbers) + 1:03d}")


class NotPublished(BadInput):
    """Raised if a file is not the published one or is incomplete; nothing is imported."""


# --- files ----------------------------------------------------------------------------------------


def existing(path: Path) -> Path:
    """Return a path; raises BadInput if there is nothing at it."""
    if not path.exists():
        raise BadInput(f"There is no file or folder {path}.")
    return path


def read_fetched_file(file: Path) -> bytes:
    """Return the content of a file; raises BadInput for a Git LFS pointer without its data."""
    data = file.read_bytes()
    if data.startswith(POINTER):
        raise BadInput(f"{file} is a Git LFS pointer; fetch the data itself with `git lfs pull`.")
    return data


def check_columns(file: Path, columns: Iterable[str], needed: Iterable[str]) -> None:
    """Raise NotPublished if a table lacks one of the needed columns."""
    existing_columns = set(columns)
    if lacking := [name for name in needed if name not in existing_columns]:
        raise NotPublished(
            f"{file} has no column {join_names(lacking, 'or')}; the published file does, so this "
            f"is "
            "another file or another version."
        )


def table_rows(
    file: Path, data: bytes, needed: Iterable[str], separator: str = ",", strict: bool = False
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a CSV table by column, each with the number of its last line.

    Args:
        file: The table's path, for messages.
        data: The table as UTF-8.
        needed: Columns that the table must have.
        separator: The character between cells.
        strict: Refuse cells with unbalanced quotes.

    Raises:
        NotPublished: The table lacks a column, is not UTF-8, or has a row of another length.
        BadInput: The file cannot be read as a table.
    """
    try:
        text = io.StringIO(data.decode("utf-8-sig"), newline="")
        reader = csv.DictReader(text, delimiter=separator, strict=strict)
        with _large_cells():
            columns = reader.fieldnames or ()
        check_columns(file, columns, needed)
        while True:
            with _large_cells():  # not while the generator is suspended: the limit is global
                row = next(reader, None)
            if row is None:
                return
            if None in row or None in row.values():
                raise NotPublished(
                    f"{file}, line {reader.line_num}: the row and the header differ in length; "
                    "the download may be incomplete."
                )
            yield reader.line_num, row
    except UnicodeDecodeError:
        raise NotPublished(f"{file} is not UTF-8 text; the published tables are.") from None
    except csv.Error as error:
        raise BadInput(f"{file} is not a table: {error}; it may be truncated.") from None


@contextmanager
def published_line(file: Path, line: int) -> Iterator[None]:
    """Raise NotPublished, with file and line, for a missing key or an invalid value in the
    block."""
    place = f"{file.name}, line {line}"
    try:
        yield
    except NotPublished as error:
        raise NotPublished(f"{place}: {error}") from None
    except (KeyError, ValueError) as error:
        raise NotPublished(f"{place}: {error} is not a value of the published file.") from None


@contextmanager
def _large_cells() -> Iterator[None]:
    """Raise the `csv` module's limit on the size of a cell within the block."""
    limit = csv.field_size_limit(LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


# --- results --------------------------------------------------------------------------------------


class EpisodeSpool(Sequence[Episode]):
    """A growing sequence of episodes, of which one at a time is in memory; above `MOST_HELD` bytes
    they are in a temporary file."""

    MOST_HELD = 8 << 20

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(self.MOST_HELD)  # noqa: SIM115  closed with the object
        self._starts = array("Q")

    def append(self, episode: Episode) -> None:
        """Add an episode at the end."""
        self._starts.append(self._file.seek(0, io.SEEK_END))
        pickle.dump(episode, self._file, pickle.HIGHEST_PROTOCOL)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> list[Episode]: ...
    def __getitem__(self, index: int | slice) -> Episode | list[Episode]:
        if isinstance(index, slice):
            return [self[n] for n in range(len(self))[index]]
        self._file.seek(self._starts[index])
        episode: Episode = pickle.load(self._file)  # written by this process
        return episode


class ImportRun:
    """The episodes, irregularities, differences and counts collected during an import."""

    def __init__(
        self, oddities: Iterable[Oddity] = (), counts: Mapping[str, int] | None = None
    ) -> None:
        self.episodes = EpisodeSpool()
        self.oddities = list(oddities)
        self.differences: list[Difference] = []
        self.counts: Counter[str] = Counter(counts or {})

    def add(
        self,
        episode: Episode,
        differences: Iterable[Difference] = (),
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Add an episode with its differences from the record, and add up its counts."""
        self.episodes.append(episode)
        self.differences += differences
        self.counts.update(counts or {})

    @contextmanager
    def listing_errors(self, file: str) -> Iterator[None]:
        """List an error raised in the block as an irregularity of a file instead of stopping the
        import; NotPublished still stops it."""
        try:
            yield
        except NotPublished:
            raise
        except BadInput as error:
            self.oddities.append(Oddity(file, NOT_IMPORTED, str(error)))
        except Exception as error:  # a third-party record may hold anything
            _log.debug("%s was not imported", file, exc_info=True)
            strange = f"it is not as published ({type(error).__name__}: {error})"
            self.oddities.append(Oddity(file, NOT_IMPORTED, strange))

    def result(self, allow_empty: bool = False) -> ImportResult:
        """Return the result of the import, with differences and irregularities as text and as data.

        Args:
            allow_empty: If nothing was imported because of errors, return a result that lists all
                of them instead of raising the first.

        Raises:
            BadInput: Nothing was imported because of errors, unless `allow_empty`.
        """
        wrong = [oddity for oddity in self.oddities if oddity.what == NOT_IMPORTED]
        if wrong and not self.episodes and not allow_empty:
            file, reason = wrong[0].file, wrong[0].why
            raise BadInput(reason if file in reason else f"{file}: {reason}")
        lines = tuple(str(remark) for remark in (*self.differences, *self.oddities))
        details = {
            "oddities": [msgspec.to_builtins(oddity) for oddity in self.oddities],
            "differences": [msgspec.to_builtins(difference) for difference in self.differences],
        }
        return ImportResult(self.episodes, dict(self.counts), lines, details)
