"""Measured seats as columns: a million of them fit into memory and are summed without a Python
loop.

Data that seats share is stored once; numbers are in arrays, with NaN for missing values. A single
row is built as a `MeasuredSeat` when it is read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import msgspec
import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from sally import store
from sally.analysis.columns.dictionary_column import (
    Dictionary,
    is_one_number,
    lean,
    taken,
    transposed,
)
from sally.analysis.columns.measured import Acting, MeasuredSeat, measured_seats, seats_under_study
from sally.analysis.profile.knowing import AGAIN, BINS, MIRROR, Knowing
from sally.core.log.events import Episode, PlayerSpec, Setup
from sally.core.rules.metric import Played, Terms
from sally.metrics.habits import Habits, Keys
from sally.store.deduplicate import packed_ids
from sally.store.index import Columns

Codes = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
ASKED = Knowing.__struct_fields__[: Knowing.__struct_fields__.index("bins")]
ACTED = Acting.__struct_fields__
PRESSED = Habits.__struct_fields__[:-1]  # the last field holds the keys
LOST = Terms.__struct_fields__
GOT = ("doing", "least", "most", "optimum")
NUMBERS = (*GOT, *ASKED, AGAIN, MIRROR, *ACTED, *PRESSED, *LOST, "moves", "forfeits")
WHOLE = frozenset(
    ("asked", "unread", "scored", "with_odds", "valued", *ACTED[:-1], "moves", "forfeits",
     *(name for name in PRESSED if name != "blind" and not name.startswith("by_")))
)  # fmt: skip


class Shared(msgspec.Struct, frozen=True):
    """The data that measured seats with the same cell, lineup, seat and metric have in common."""

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


class MeasuredChunk(msgspec.Struct, array_like=True):
    """The measured seats of some lines of a store; a line without an episode has an empty id."""

    ids: list[str]
    cut: list[bool]
    why: list[str]  # why a line holds no episode
    sat: list[int]  # the code of each line's occupied seats
    sats: list[tuple[str, ...]]
    rows: list[int]  # the number of measured seats of each line
    kind: bytes  # by row, as are the following
    seed: list[int]
    repeat: list[int]
    setting: bytes  # in hexadecimal
    censored: list[int]
    causes: list[str]
    truths: list[int]
    sure: list[int]
    counts: list[dict[str, int]]  # of truths, by code
    keys: list[int]
    pressed: list[Keys]  # by code of `keys`
    numbers: dict[str, bytes]  # columns of zeros are left out
    bins: bytes
    shared: list[Shared]


@dataclass(frozen=True, eq=False)
class MeasuredTable(Sequence[MeasuredSeat]):
    """Measured seats, one in each row."""

    shared: list[Shared]
    kind: Codes  # by row, the index into `shared`
    episode: NDArray[np.bytes_]
    seed: NDArray[Any]
    repeat: Codes
    setting: NDArray[np.bytes_]
    censored: Codes
    causes: list[str]  # the first is empty: not censored
    truths: Codes
    sure: Codes
    counts: list[dict[str, int]]
    keys: Codes
    pressed: list[Keys]  # by code of `keys`
    numbers: dict[str, Floats]
    bins: Floats | None  # by row and bin: count, sum of odds, sum of correct answers

    def of(self, name: str) -> Floats:
        """Return one column of numbers."""
        found = self.numbers.get(name)
        return np.zeros(len(self.kind)) if found is None else found

    def kinds(self) -> list[int]:
        """Return the codes of the kinds of measured seats, in order of first appearance."""
        kinds, first = np.unique(self.kind, return_index=True)
        ordered: list[int] = kinds[np.argsort(first)].tolist()
        return ordered

    def asked_kinds(self) -> set[int]:
        """Return the codes of the kinds of seats that were asked about others in at least one row.
        A kind comprises the rows with the same cell, lineup, seat and metric."""
        return set(np.unique(self.kind[self.of("asked") > 0]).tolist())

    def take(self, rows: NDArray[Any]) -> MeasuredTable:
        """Return some rows, by number or by a boolean mask."""
        if rows.dtype == np.bool_ and rows.all():
            return self
        arrays = ("kind", "episode", "seed", "repeat", "setting", "censored", "truths", "sure",
                  "keys")  # fmt: skip
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in arrays},
            numbers={name: taken(column, rows) for name, column in self.numbers.items()},
            bins=None if self.bins is None else self.bins[rows],
        )

    def __len__(self) -> int:
        return len(self.kind)

    def __iter__(self) -> Iterator[MeasuredSeat]:
        return map(self.row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeasuredTable) and list(self) == list(other)

    @overload
    def __getitem__(self, at: int) -> MeasuredSeat: ...
    @overload
    def __getitem__(self, at: slice) -> list[MeasuredSeat]: ...
    def __getitem__(self, at: int | slice) -> MeasuredSeat | list[MeasuredSeat]:
        if isinstance(at, slice):
            return [self.row(n) for n in range(len(self))[at]]
        return self.row(range(len(self))[at])

    def row(self, n: int) -> MeasuredSeat:
        """Return one row as a `MeasuredSeat`."""
        shared = self.shared[self.kind[n]]
        got = {name: _known(self.of_row(name, n)) for name in GOT}
        setup = msgspec.structs.replace(
            shared.setup, seed=int(self.seed[n]), repeat=int(self.repeat[n])
        )
        return MeasuredSeat(
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
            habits=Habits(
                **{name: self.of_row(name, n) for name in PRESSED},
                keys=self.pressed[self.keys[n]],
            ),
            terms=Terms(*(_known(self.of_row(name, n)) for name in LOST)),
            moves=int(self.of_row("moves", n)),
            forfeits=int(self.of_row("forfeits", n)),
            censored=self.causes[self.censored[n]],
            **got,
        )

    def of_row(self, name: str, n: int) -> Any:
        """Return one number of one row."""
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


def table_of(found: Sequence[MeasuredSeat]) -> MeasuredTable:
    """Return measured seats as a table."""
    if isinstance(found, MeasuredTable):
        return found
    rows, joined = MeasuredRows(), MeasuredTableBuilder()
    for m in found:
        rows.add(m)
    joined.add(rows.filled([m.episode for m in found], [1] * len(found)))
    return joined.table()


def _dictionaries() -> tuple[Dictionary, Dictionary, Dictionary, Dictionary]:
    """Return new dictionaries of kinds, causes, counts and keys.

    In the last three, code 0 stands for the empty value.
    """
    counts, keys = Dictionary(), Dictionary()
    for empty in (counts, keys):
        empty.code({}, b"\x80")
    return Dictionary(), Dictionary([""]), counts, keys


class MeasuredRows:
    """Collector of measured seats, from which a table or a chunk of the index is built."""

    def __init__(self) -> None:
        self._numbers: list[tuple[float | None, ...]] = []
        self._kind, self._bins = array("q"), dict[int, tuple[tuple[int, float, float], ...]]()
        self._setting = bytearray()
        self._seed, self._repeat = list[int](), list[int]()
        self._censored, self._truths, self._sure = list[int](), list[int](), list[int]()
        self._keys = list[int]()
        self._kinds, self._causes, self._counts, self._presses = _dictionaries()

    def add(self, m: MeasuredSeat) -> None:
        """Add one seat."""
        k, setup = m.knowing, msgspec.structs.replace(m.setup, seed=0, repeat=0)
        shared = Shared(m.cell, m.family, m.seat, m.metric, m.alike, m.span, setup)
        self._kind.append(self._kinds.code(shared, msgspec.msgpack.encode(shared)))
        self._censored.append(self._causes.code(m.censored))
        for column, found in ((self._truths, k.truths), (self._sure, k.sure_truths)):
            key = msgspec.msgpack.encode(found, order="sorted") if found else b"\x80"
            column.append(self._counts.code(found, key))
        keys = m.habits.keys
        key = msgspec.msgpack.encode(keys, order="sorted") if keys else b"\x80"
        self._keys.append(self._presses.code(keys, key))
        self._seed.append(m.setup.seed)
        self._repeat.append(m.setup.repeat)
        self._setting += m.setting.encode()
        if k.bins:
            self._bins[len(self._numbers)] = k.bins
        got, answers = (m.doing, m.least, m.most, m.optimum), astuple(k)[: len(ASKED)]
        mindless = (k.mindless.get(AGAIN, k.guess), k.mindless.get(MIRROR, k.guess))
        pressed = astuple(m.habits)[: len(PRESSED)]
        rest = (*astuple(m.acting), *pressed, *astuple(m.terms), m.moves, m.forfeits)
        self._numbers.append((*got, *answers, *mindless, *rest))

    def filled(self, ids: list[str], rows: list[int], **lines: Any) -> MeasuredChunk:
        """Return the collected seats as a chunk.

        `ids` are the episode ids of the store's lines, `rows` the number of seats of each line.
        """
        plain: dict[str, Any] = {"cut": [], "why": [], "sat": [], "sats": []}
        numbers: Floats = np.array(self._numbers, dtype=np.float64).reshape(-1, len(NUMBERS)).T
        bins = np.zeros((len(self._numbers) * bool(self._bins), BINS, 3))
        if self._bins:
            bins[list(self._bins)] = list(self._bins.values())
        return MeasuredChunk(
            ids=ids,
            rows=rows,
            kind=self._kind.tobytes(),
            seed=self._seed,
            repeat=self._repeat,
            setting=bytes(self._setting),
            censored=self._censored,
            causes=self._causes.values,
            truths=self._truths,
            sure=self._sure,
            counts=self._counts.values,
            keys=self._keys,
            pressed=self._presses.values,
            numbers={n: c.tobytes() for n, c in zip(NUMBERS, numbers, strict=True) if c.any()},
            bins=bins.tobytes(),
            shared=self._kinds.values,
            **(plain | lines),
        )


class MeasuredTableBuilder:
    """Builder of a table from chunks; the chunks themselves are not kept."""

    def __init__(self) -> None:
        self._kinds, self._causes, self._counts, self._presses = _dictionaries()
        self._columns: dict[str, list[NDArray[Any]]] = {}
        self._numbers: dict[str, list[Floats | int]] = {name: [] for name in (*NUMBERS, "bins")}

    def add(self, piece: MeasuredChunk) -> None:
        """Add the rows of a chunk."""
        coded = {
            "kind": [self._kinds.code(s, msgspec.msgpack.encode(s)) for s in piece.shared],
            "censored": [self._causes.code(cause) for cause in piece.causes],
        }
        coded["truths"] = coded["sure"] = [
            self._counts.code(counts, msgspec.msgpack.encode(counts, order="sorted"))
            for counts in piece.counts
        ]
        coded["keys"] = [
            self._presses.code(keys, msgspec.msgpack.encode(keys, order="sorted"))
            for keys in piece.pressed
        ]
        mine = {"kind": np.frombuffer(piece.kind, dtype=np.int64)}
        for name in ("censored", "truths", "sure", "keys"):
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

    def table(self) -> MeasuredTable:
        """Return the table of all rows added."""
        if not self._columns:
            self.add(MeasuredRows().filled([], []))
        # The chunks of each column are freed once it is whole: they are most of the memory.
        columns: dict[str, Any] = {
            n: np.concatenate(self._columns.pop(n)) for n in [*self._columns]
        }
        bins = _whole(self._numbers.pop("bins"), 3 * BINS)
        numbers = {name: _whole(self._numbers.pop(name)) for name in [*self._numbers]}
        return MeasuredTable(
            shared=self._kinds.values,
            causes=self._causes.values,
            counts=self._counts.values,
            pressed=self._presses.values,
            numbers={name: column for name, column in numbers.items() if column is not None},
            bins=None if bins is None else bins.reshape(-1, BINS, 3),
            **columns,
        )


def _large(seeds: Sequence[int]) -> bool:
    return any(not -(2**63) <= seed < 2**63 for seed in seeds)


def _whole(columns: list[Floats | int], width: int = 1) -> Floats | None:
    """Concatenate the chunks of a column. A chunk given as an int stands for that many rows of
    zeros; the result is None if all chunks are ints."""
    if all(isinstance(column, int) for column in columns):
        return None
    if is_one_number(columns):
        return np.broadcast_to(columns[0][:1], sum(map(len, columns)))
    return np.concatenate([np.zeros(c * width) if isinstance(c, int) else c for c in columns])


# --- the index ------------------------------------------------------------------------------------


def column(seat: str = "", playable: bool = False) -> str:
    """Return the name under which the index stores the measurements of a seat; without `seat`,
    those of the seats under study."""
    return f"{'playable, ' * playable}measured {seat}"


class MeasuredColumn:
    """Builder of the index column of measured seats."""

    def __init__(self, seat: str = "", playable: bool = False) -> None:
        self._seat, self._name = seat, column(seat, playable)
        self._rows, self._sats = MeasuredRows(), Dictionary()
        self._lines: list[tuple[Any, ...]] = []  # id, cut, why, sat and the number of rows

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Measure an episode, or record why a line holds no episode."""
        if not isinstance(found, Episode) or whole is None:
            self._lines.append(("", False, str(found), self._sats.code(()), 0))
            return
        seats = (self._seat,) if self._seat else seats_under_study(found.setup)
        measured = measured_seats(whole, seats)
        for m in measured:
            self._rows.add(m)
        sat = self._sats.code(tuple(found.setup.lineup))
        self._lines.append((found.id, store.to_run_again(found), "", sat, len(measured)))

    def columns(self) -> Columns:
        """Return the measured seats as the index stores them."""
        ids, cut, why, sat, rows = transposed(self._lines, 5)
        lines = {"cut": cut, "why": why, "sat": sat, "sats": self._sats.values}
        return {self._name: msgspec.msgpack.encode(self._rows.filled(ids, rows, **lines))}
