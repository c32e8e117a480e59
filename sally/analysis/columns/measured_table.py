"""Measured seats column by column: a million of them fit into memory, and sums take no loop.

What seats have in common is written once; the numbers are arrays, in which a missing one is not a
number. A single seat is put together as a `Measured` when somebody looks at it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally import store
from sally.analysis.columns.dictionary_column import is_one_number, lean, taken
from sally.analysis.columns.measured import Acting, Measured, in_question, measured_seats
from sally.analysis.profile.knowing import AGAIN, BINS, MIRROR, Knowing
from sally.core.log.events import Episode, PlayerSpec, Setup
from sally.core.rules.metric import Played, Terms
from sally.store.deduplicate import packed_ids
from sally.store.index import Columns

Codes = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
ASKED = ("asked", "unread", "scored", "right", "guess", "with_odds", "brier", "even_brier",
         "valued", "value_error")  # fmt: skip
ACTED = ("n", "fits", "weighed", "weighed_fits", "chance")
LOST = ("inference", "translation", "format", "luck")
GOT = ("doing", "least", "most", "optimum")
NUMBERS = (*GOT, *ASKED, AGAIN, MIRROR, *ACTED, *LOST, "moves", "forfeits")
WHOLE = frozenset(("asked", "unread", "scored", "with_odds", "valued", *ACTED[:-1], "moves",
                   "forfeits"))  # fmt: skip


class Shared(msgspec.Struct, frozen=True):
    """What the seats of one kind have in common."""

    cell: str
    family: str
    seat: str
    metric: str
    alike: str
    span: tuple[float, float] | None
    setup: Setup  # without seed and repeat

    @property
    def game(self) -> str:
        return self.setup.instance.game

    @property
    def player_spec(self) -> PlayerSpec:
        return self.setup.lineup[self.seat]


class Piece(msgspec.Struct, array_like=True):
    """The measured seats of some lines; a line that holds no episode has an empty id."""

    ids: list[str]
    cut: list[bool]
    why: list[str]  # why a line holds no episode
    sat: list[int]  # in which seats somebody sat
    sats: list[tuple[str, ...]]
    rows: list[int]  # how many seats of each line are measured
    kind: bytes  # of each row, and so on
    seed: list[int]
    repeat: list[int]
    setting: bytes  # in hexadecimal
    censored: list[int]
    causes: list[str]
    truths: list[int]
    sure: list[int]
    counts: list[dict[str, int]]  # of truths, by number
    numbers: dict[str, bytes]  # those that are 0 in every row are left out
    bins: bytes
    shared: list[Shared]


@dataclass(frozen=True, eq=False)
class Table(Sequence[Measured]):
    """Measured seats, one a row."""

    shared: list[Shared]
    kind: Codes  # whose number of these a row has
    episode: NDArray[np.bytes_]
    seed: NDArray[Any]
    repeat: Codes
    setting: NDArray[np.bytes_]
    censored: Codes
    causes: list[str]  # the first is none
    truths: Codes
    sure: Codes
    counts: list[dict[str, int]]
    numbers: dict[str, Floats]
    bins: Floats | None  # by row and bin: how many, sum of odds, sum of right ones

    def of(self, name: str) -> Floats:
        """One number of every row."""
        found = self.numbers.get(name)
        return np.zeros(len(self.kind)) if found is None else found

    def kinds(self) -> list[int]:
        """The kinds that there are, in the order in which they first appear."""
        kinds, first = np.unique(self.kind, return_index=True)
        ordered: list[int] = kinds[np.argsort(first)].tolist()
        return ordered

    def asked_kinds(self) -> set[int]:
        """The kinds of which somebody was asked about others."""
        return set(np.unique(self.kind[self.of("asked") > 0]).tolist())

    def take(self, rows: NDArray[Any]) -> Table:
        """Some rows, by number or by whether they are wanted; all of them are the table itself."""
        if rows.dtype == np.bool_ and rows.all():
            return self
        arrays = ("kind", "episode", "seed", "repeat", "setting", "censored", "truths", "sure")
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in arrays},
            numbers={name: taken(column, rows) for name, column in self.numbers.items()},
            bins=None if self.bins is None else self.bins[rows],
        )

    def __len__(self) -> int:
        return len(self.kind)

    def __iter__(self) -> Iterator[Measured]:
        return map(self.row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and list(self) == list(other)

    @overload
    def __getitem__(self, at: int) -> Measured: ...
    @overload
    def __getitem__(self, at: slice) -> list[Measured]: ...
    def __getitem__(self, at: int | slice) -> Measured | list[Measured]:
        if isinstance(at, slice):
            return [self.row(n) for n in range(len(self))[at]]
        return self.row(range(len(self))[at])

    def row(self, n: int) -> Measured:
        """One seat as it was measured."""
        shared = self.shared[self.kind[n]]
        got = {name: _known(self.of_row(name, n)) for name in GOT}
        setup = msgspec.structs.replace(
            shared.setup, seed=int(self.seed[n]), repeat=int(self.repeat[n])
        )
        return Measured(
            episode=str(self.episode[n], "ascii"),
            cell=shared.cell,
            family=shared.family,
            setup=setup,
            seat=shared.seat,
            setting=str(self.setting[n], "ascii"),
            alike=shared.alike,
            metric=shared.metric,
            span=shared.span,
            knowing=self._knowing(n),
            acting=Acting(*(self.of_row(name, n) for name in ACTED)),
            terms=Terms(*(_known(self.of_row(name, n)) for name in LOST)),
            moves=int(self.of_row("moves", n)),
            forfeits=int(self.of_row("forfeits", n)),
            censored=self.causes[self.censored[n]],
            **got,
        )

    def of_row(self, name: str, n: int) -> Any:
        """One number of one row."""
        found = self.numbers.get(name)
        value = 0.0 if found is None else float(found[n])
        return int(value) if name in WHOLE else value

    def _knowing(self, n: int) -> Knowing:
        sums = {name: self.of_row(name, n) for name in ASKED}
        there = self.bins is not None and sums["with_odds"]
        bins = self.bins[n].tolist() if self.bins is not None and there else []
        return Knowing(
            **sums,
            bins=tuple((int(many), odds, right) for many, odds, right in bins),
            mindless={AGAIN: self.of_row(AGAIN, n), MIRROR: self.of_row(MIRROR, n)},
            truths=self.counts[self.truths[n]],
            sure_truths=self.counts[self.sure[n]],
        )


def _known(value: float) -> float | None:
    return None if value != value else value


def table_of(found: Sequence[Measured]) -> Table:
    """Measured seats as a table, if they are none already."""
    if isinstance(found, Table):
        return found
    rows = Rows()
    for m in found:
        rows.add(m)
    return tables_joined([rows.filled([m.episode for m in found], [1] * len(found))])


class Rows:
    """Takes measured seats one by one, for a table or for the index."""

    def __init__(self) -> None:
        self._numbers: list[tuple[float | None, ...]] = []
        self._kind, self._bins = array("q"), dict[int, tuple[tuple[int, float, float], ...]]()
        self._setting = bytearray()
        self._seed, self._repeat = list[int](), list[int]()
        self._censored, self._truths, self._sure = list[int](), list[int](), list[int]()
        self._known: tuple[dict[Any, int], ...] = ({}, {"": 0}, {b"\x80": 0})
        self._shared, self._causes, self._counts = list[Shared](), [""], [dict[str, int]()]

    def add(self, m: Measured) -> None:
        """Take one seat."""
        k, setup = m.knowing, msgspec.structs.replace(m.setup, seed=0, repeat=0)
        shared = Shared(m.cell, m.family, m.seat, m.metric, m.alike, m.span, setup)
        kinds, causes, counts = self._known
        key = msgspec.msgpack.encode(shared)
        self._kind.append(numbered(kinds, self._shared, shared, key))
        self._censored.append(numbered(causes, self._causes, m.censored, m.censored))
        for column, found in ((self._truths, k.truths), (self._sure, k.sure_truths)):
            key = msgspec.msgpack.encode(found, order="sorted") if found else b"\x80"
            column.append(numbered(counts, self._counts, found, key))
        self._seed.append(m.setup.seed)
        self._repeat.append(m.setup.repeat)
        self._setting += m.setting.encode()
        got = (m.doing, m.least, m.most, m.optimum)
        sums = (k.asked, k.unread, k.scored, k.right, k.guess, k.with_odds, k.brier, k.even_brier,
                k.valued, k.value_error, k.mindless.get(AGAIN, k.guess),
                k.mindless.get(MIRROR, k.guess))  # fmt: skip
        a, t = m.acting, m.terms
        acted = (a.n, a.fits, a.weighed, a.weighed_fits, a.chance)
        lost = (t.inference, t.translation, t.format, t.luck)
        if k.bins:
            self._bins[len(self._numbers)] = k.bins
        self._numbers.append((*got, *sums, *acted, *lost, m.moves, m.forfeits))

    def filled(self, ids: list[str], rows: list[int], **lines: Any) -> Piece:
        """A piece of these lines, of which each has so many rows."""
        plain: dict[str, Any] = {"cut": [], "why": [], "sat": [], "sats": []}
        numbers: Floats = np.array(self._numbers, dtype=np.float64).reshape(-1, len(NUMBERS)).T
        bins = np.zeros((len(self._numbers) * bool(self._bins), BINS, 3))
        if self._bins:
            bins[list(self._bins)] = list(self._bins.values())
        return Piece(
            ids=ids,
            rows=rows,
            kind=self._kind.tobytes(),
            seed=self._seed,
            repeat=self._repeat,
            setting=bytes(self._setting),
            censored=self._censored,
            causes=self._causes,
            truths=self._truths,
            sure=self._sure,
            counts=self._counts,
            numbers={n: c.tobytes() for n, c in zip(NUMBERS, numbers, strict=True) if c.any()},
            bins=bins.tobytes(),
            shared=self._shared,
            **(plain | lines),
        )


def numbered(known: dict[Any, int], every: list[Any], value: Any, key: Any) -> int:
    """The number of a value in a list in which each stands once."""
    number = known.setdefault(key, len(known))
    if number == len(every):
        every.append(value)
    return number


def tables_joined(pieces: Sequence[Piece]) -> Table:
    """All rows of some pieces."""
    joined = Joined()
    for piece in pieces:
        joined.add(piece)
    return joined.table()


class Joined:
    """Pieces put together, one after another, so that none of them has to stay."""

    def __init__(self) -> None:
        self._known: tuple[dict[Any, int], ...] = ({}, {"": 0}, {b"\x80": 0})
        self._shared, self._causes, self._counts = list[Shared](), [""], [dict[str, int]()]
        self._columns: dict[str, list[NDArray[Any]]] = {}
        self._numbers: dict[str, list[Floats | int]] = {name: [] for name in (*NUMBERS, "bins")}

    def add(self, piece: Piece) -> None:
        """Take the rows of a piece."""
        kinds, causes, counts = self._known
        coded = {
            "kind": [numbered(kinds, self._shared, s, msgspec.msgpack.encode(s))
                     for s in piece.shared],
            "censored": [numbered(causes, self._causes, each, each) for each in piece.causes],
        }  # fmt: skip
        coded["truths"] = coded["sure"] = [
            numbered(counts, self._counts, c, msgspec.msgpack.encode(c, order="sorted"))
            for c in piece.counts
        ]
        mine = {"kind": np.frombuffer(piece.kind, dtype=np.int64)}
        for name in ("censored", "truths", "sure"):
            mine[name] = np.array(getattr(piece, name), dtype=np.int64)
        found = {n: np.array(coded[n], dtype=np.int32)[codes] for n, codes in mine.items()}
        found["repeat"] = np.array(piece.repeat, dtype=np.int64)
        found["seed"] = np.array(piece.seed, dtype=object if _large(piece.seed) else np.int64)
        ids = packed_ids(piece.ids)
        found["episode"] = np.repeat(ids, piece.rows)
        found["setting"] = np.frombuffer(piece.setting, dtype=ids.dtype)
        for name, column in found.items():
            self._columns.setdefault(name, []).append(column)
        rows = len(piece.seed)
        for name, numbers in self._numbers.items():
            data = piece.bins if name == "bins" else piece.numbers.get(name, b"")
            numbers.append(lean(np.frombuffer(data)) if data else rows)

    def table(self) -> Table:
        """All rows that were added."""
        if not self._columns:
            self.add(Rows().filled([], []))
        # Each column is let go as soon as it is whole: together they are most of the memory.
        columns: dict[str, Any] = {
            n: np.concatenate(self._columns.pop(n)) for n in [*self._columns]
        }
        bins = _whole(self._numbers.pop("bins"), 3 * BINS)
        numbers = {name: _whole(self._numbers.pop(name)) for name in [*self._numbers]}
        return Table(
            shared=self._shared,
            causes=self._causes,
            counts=self._counts,
            numbers={name: column for name, column in numbers.items() if column is not None},
            bins=None if bins is None else bins.reshape(-1, BINS, 3),
            **columns,
        )


def _large(seeds: Sequence[int]) -> bool:
    return any(not -(2**63) <= seed < 2**63 for seed in seeds)


def _whole(columns: list[Floats | int], width: int = 1) -> Floats | None:
    """A column put together; a number stands for so many rows of zeros, None for nothing else."""
    if all(isinstance(column, int) for column in columns):
        return None
    if is_one_number(columns):
        return np.broadcast_to(columns[0][:1], sum(map(len, columns)))
    return np.concatenate([np.zeros(c * width) if isinstance(c, int) else c for c in columns])


# --- the index ------------------------------------------------------------------------------------


def column(seat: str = "", playable: bool = False) -> str:
    """The name of the column that holds the named seat measured, or those in question."""
    return f"{'playable, ' * playable}measured {seat}"


class MeasuredColumn:
    """The column of measured seats, line by line."""

    def __init__(self, seat: str = "", playable: bool = False) -> None:
        self._seat, self._name = seat, column(seat, playable)
        self._rows, self._ids, self._many = Rows(), list[str](), list[int]()
        self._cut, self._why, self._sat = list[bool](), list[str](), list[int]()
        self._known: dict[tuple[str, ...], int] = {}
        self._sats: list[tuple[str, ...]] = []

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Measure an episode, or note why a line holds none."""
        if not isinstance(found, Episode) or whole is None:
            self._note("", False, str(found), (), 0)
            return
        seats = (self._seat,) if self._seat else in_question(found.setup)
        measured = measured_seats(whole, seats)
        for m in measured:
            self._rows.add(m)
        sat = tuple(found.setup.lineup)
        self._note(found.id, store.to_run_again(found), "", sat, len(measured))

    def _note(self, id: str, cut: bool, why: str, sat: tuple[str, ...], many: int) -> None:
        self._ids.append(id)
        self._cut.append(cut)
        self._why.append(why)
        self._sat.append(numbered(self._known, self._sats, sat, sat))
        self._many.append(many)

    def columns(self) -> Columns:
        """What was measured, as the index keeps it."""
        lines = {"cut": self._cut, "why": self._why, "sat": self._sat, "sats": self._sats}
        return {
            self._name: msgspec.msgpack.encode(self._rows.filled(self._ids, self._many, **lines))
        }
