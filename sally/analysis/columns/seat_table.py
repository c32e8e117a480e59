"""The seats of a whole store as columns, read from the index if it holds them.

A row of the table is one seat of one episode. Data on players are stored once for each kind of seat
and all other data in arrays, so that a million episodes fit into memory and their means take
seconds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally import store
from sally.analysis.columns.dictionary_column import (
    ColumnEncoder,
    Dictionary,
    EncodedColumn,
    transposed,
)
from sally.analysis.columns.measured import seats_under_study
from sally.analysis.columns.replayed_rows import replayed_columns
from sally.analysis.columns.rows import Measure, Row, estimate_row, seat_measures
from sally.analysis.columns.scores import FINEST, STUDIED
from sally.analysis.profile.bounds import PAID, enclosing, instance_bounds, key_of, mean_within
from sally.core.errors import BadInput
from sally.core.grouping import grouped
from sally.core.log.events import Episode, PlayerSpec, label, model_and_strategy
from sally.core.registry.fingerprint import fingerprint
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.stats.cluster_interval import Unit, coarsest
from sally.stats.columns import as_met
from sally.stats.intervals import Estimate
from sally.store.deduplicate import Deduplicator, rows_of
from sally.store.index import Columns, Line

SEATS = "seats"
PERSON = "participant"
SEEDS = "seeds"  # a separate column: only pairing needs them
Codes = NDArray[np.int64]
Whole = NDArray[np.object_]  # numbers of any size
Floats = NDArray[np.float64]


class SeatKind(msgspec.Struct, frozen=True):
    """Data shared by seats that differ only in problem and seed."""

    cell: str
    game: str
    seat: str
    seats: tuple[str, ...]  # all seats of the game, in order
    lineup: dict[str, PlayerSpec]
    studied: bool

    @property
    def row(self) -> Row:
        """The columns that name the player and the other players."""
        who = self.lineup[self.seat]
        model, strategy = model_and_strategy(who)
        return {
            "cell": self.cell,
            "game": self.game,
            "seat": self.seat,
            "player": label(who),
            "others": ", ".join(label(self.lineup[s]) for s in self.seats if s != self.seat),
            "model": model,
            "strategy": strategy,
            "participant": who.params.get("participant"),
            STUDIED: self.studied,
        }


class SeatChunk(msgspec.Struct, array_like=True):
    """The seats of some lines of a store; a line without an episode has an empty id."""

    ids: list[str]
    cut: list[bool]  # whether a resumed study runs the episode again
    why: list[str]  # why there is no result, or no episode
    problem: list[int]
    repeat: list[int]
    seats: list[int]  # the number of rows of each line
    kind: list[int]  # of each row
    problems: list[tuple[str, str, bytes]]  # cell, instance, and the instance's parameters
    kinds: list[SeatKind]


@dataclass
class SeatTable:
    """One row for each seat of each stored episode, as columns.

    The columns hold codes for the seat's kind and its problem, and the values of the metrics.
    """

    kinds: list[Row]  # those that occur; `at` is the code
    whole: list[SeatKind]  # all kinds, by code
    kind: Codes
    problems: list[tuple[str, str, bytes]]  # cell, instance, and the instance's parameters
    problem: Codes
    instance: Codes
    repeat: Codes
    seed: Whole  # empty unless asked for
    values: Mapping[str, EncodedColumn[np.float64]]  # NaN where there is no value
    bad: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    mixed: list[str] = field(default_factory=list)  # instances whose parameters changed
    result: NDArray[np.bool_] = field(default_factory=lambda: np.array([], dtype=np.bool_))


def seats_in(
    where: store.Where,
    metrics: Sequence[str],
    watch: Callable[[int], None] | None = None,
    seeds: bool = False,
) -> SeatTable:
    """Return one row for each seat of each episode of a store, without duplicates.

    Args:
        where: The store.
        metrics: The metrics and counts to include.
        watch: Called with the number of lines read so far.
        seeds: Whether to include the seed of each row.
    """
    gathered, lines = SeatTableBuilder(metrics), 0
    names = [SEATS, *([SEEDS] if seeds else ()), *metrics]
    for at, found in store.columns(where, names, fingerprint(), worked):
        gathered.add(at, found)
        lines += len(at)
        if watch is not None:
            watch(lines)
    store.quarantine_lines(store.place(where), gathered.bad_files)
    return gathered.seats()


def worked(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    """Compute the index columns with these metrics for some lines of a store, replaying each
    episode once."""
    return replayed_columns(lines, [SeatColumns(names)])


class SeatColumns:
    """Builder of the index columns that describe the seats of a store's episodes."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._metrics = names, frozenset(names) - {SEATS, SEEDS}
        self._kinds, self._problems = Dictionary(), Dictionary()
        self._lines: list[tuple[Any, ...]] = []  # id to seats of a chunk, and the seed
        self._kind: list[int] = []
        self._alike: dict[bytes, tuple[int, dict[str, int]]] = {}  # by setup without its seed
        self._values: dict[str, SeatValues] = {}  # by family of games

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Add the seats of an episode, or record why a line holds no episode."""
        if not isinstance(found, Episode) or whole is None:
            self._lines.append(("", False, str(found), -1, 0, 0, 0))
            return
        setup, seats = found.setup, whole.replay.game.seats
        alike = msgspec.msgpack.encode((found.cell, setup.instance, setup.lineup, setup.arms))
        if (known := self._alike.get(alike)) is None:
            known = self._alike[alike] = self._new(found, seats)
        family = whole.spec.family or whole.spec.name
        if (values := self._values.get(family)) is None:
            values = self._values[family] = SeatValues(seat_measures(family, self._metrics))
        values.add(whole, seats, len(self._kind))
        self._kind += [known[1][seat] for seat in seats]
        head = (found.id, store.to_run_again(found), store.reason(found))
        self._lines.append((*head, known[0], setup.repeat, len(seats), setup.seed))

    def _new(self, found: Episode, seats: tuple[str, ...]) -> tuple[int, dict[str, int]]:
        """Return the integer codes under which an episode's problem and the description of each
        seat (`SeatKind`) are stored."""
        setup, asked = found.setup, seats_under_study(found.setup)
        codes: dict[str, int] = {}
        for seat in seats:
            common = (seat, seats, setup.lineup, seat in asked)
            kind = SeatKind(found.cell, setup.instance.game, *common)
            codes[seat] = self._kinds.code(kind, msgspec.msgpack.encode(kind))
        problem = (found.cell, setup.instance.id, key_of(setup.instance))
        return self._problems.code(problem), codes

    def columns(self) -> Columns:
        """Return the columns as the index stores them."""
        ids, cut, why, problem, repeat, seats, seeds = transposed(self._lines, 7)
        rows = (self._kind, self._problems.values, self._kinds.values)
        chunk = SeatChunk(ids, cut, why, problem, repeat, seats, *rows)
        more = {SEATS: chunk, SEEDS: seeds}
        encoded = {n: msgspec.msgpack.encode(v) for n, v in more.items() if n in self._names}
        return self._packed(len(self._kind)) | encoded

    def _packed(self, rows: int) -> dict[str, bytes]:
        """Encode the numbers of all rows by column; a column without numbers is empty."""
        made = dict.fromkeys(self._metrics, b"")
        whole: dict[str, Floats] = {}
        for values in self._values.values():
            for name, numbers in values.columns():
                if not np.isnan(numbers).all():
                    whole.setdefault(name, np.full(rows, np.nan))[values.rows] = numbers
        return made | {name: column.tobytes() for name, column in whole.items()}


class SeatValues:
    """Metrics of the seats of one family of games, row by row."""

    def __init__(self, measures: Mapping[str, Measure]) -> None:
        self._names, self._measures = tuple(measures), tuple(measures.values())
        self.rows: list[int] = []
        self._values: list[list[float | None]] = []

    def add(self, whole: Played, seats: Sequence[Seat], first: int) -> None:
        """Measure all seats of an episode; if a value is invalid, no seat is added."""
        found = [[measure(whole, seat) for measure in self._measures] for seat in seats]
        for values in found:
            if not math.isfinite(sum([v for v in values if v is not None])):
                self._check(whole.episode, values)
        self._values += found
        self.rows += range(first, first + len(seats))

    def _check(self, episode: Episode, values: Sequence[float | None]) -> None:
        for name, value in zip(self._names, values, strict=True):
            if value is not None and not math.isfinite(value):
                raise BadInput(f"Episode {episode.id}: {name} is {value}; a metric must be finite.")

    def columns(self) -> Iterator[tuple[str, Floats]]:
        """Yield each metric's name and column, with NaN where there is no value."""
        whole = np.array(self._values, dtype=np.float64).reshape(len(self.rows), len(self._names))
        return zip(self._names, whole.T, strict=True)


class SeatTableBuilder:
    """Builder of a seat table from chunks; duplicate lines are dropped at the end."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._metrics = metrics
        self._kinds = Dictionary()
        self._problems: dict[tuple[str, str, bytes], int] = {}
        self._kind: list[Codes] = []
        self._problem: list[Codes] = []
        self._repeat: list[Codes] = []
        self._seed: list[Whole] = []
        self._result: list[NDArray[np.bool_]] = []
        self._values = {name: ColumnEncoder() for name in metrics}
        self._every = Deduplicator()
        self._many: list[Codes] = []  # rows of each line
        self._why: dict[int, str] = {}  # by line, why there is no result
        self._lines = 0
        self.bad: list[str] = []
        self.bad_files: dict[str, None] = {}

    def add(self, at: Sequence[tuple[str, int]], found: Columns) -> None:
        """Add a chunk of lines; `at` has the file and line number of each."""
        piece = self.add_rows(found)
        self._every.add(piece.ids, piece.cut)
        self._many.append(np.array(piece.seats, dtype=np.int64))
        for n, why in enumerate(piece.why):
            if why and piece.ids[n]:
                self._why[self._lines + n] = why
            elif why:
                self.bad.append(str(store.BadLine(*at[n], why)))
                self.bad_files[at[n][0]] = None
        self._lines += len(at)

    def add_rows(self, found: Columns) -> SeatChunk:
        """Add the rows of a chunk; if the chunk lacks a column, the rows have no values in it."""
        piece = msgspec.msgpack.decode(found[SEATS], type=SeatChunk)
        kinds = [self._kinds.code(kind, msgspec.msgpack.encode(kind)) for kind in piece.kinds]
        codes = np.array(kinds, dtype=np.int64)
        self._kind.append(codes[np.array(piece.kind, dtype=np.int64)] if piece.kind else _NONE)
        known = self._problems
        names = np.array([known.setdefault(p, len(known)) for p in piece.problems] + [-1])
        self._problem.append(np.repeat(names[piece.problem], piece.seats))
        self._repeat.append(np.repeat(np.array(piece.repeat, dtype=np.int64), piece.seats))
        ended = np.array([not why for why in piece.why], dtype=np.bool_)
        self._result.append(np.repeat(ended, piece.seats))
        if SEEDS in found:
            seeds: Whole = np.array(msgspec.msgpack.decode(found[SEEDS]), dtype=object)
            self._seed.append(np.repeat(seeds, piece.seats))
        size = len(piece.kind)
        for name, values in self._values.items():
            data = found.get(name, b"")
            if data:
                values.add(np.frombuffer(data))
            else:
                values.add_none(size)
        return piece

    def rows_of_seat(self, seat: str) -> Codes:
        """Return the row numbers that belong to a seat."""
        mine = np.array([kind.seat == seat for kind in self._kinds.values], dtype=np.bool_)
        return np.flatnonzero(mine[np.concatenate([*self._kind, _NONE])])

    def seats(self) -> SeatTable:
        """Return the table without duplicates: finished episodes in order, then censored ones."""
        count, cut = self._every.counted()
        lines = count.lines
        lines = np.concatenate([np.sort(lines[~cut[lines]]), lines[cut[lines]]])
        why = (self._why[n] for n in lines.tolist() if n in self._why) if self._why else ()
        return self.chosen(rows_of(lines, np.concatenate([*self._many, _NONE])), Counter(why))

    def chosen(self, order: Codes, reasons: Counter[str]) -> SeatTable:
        """Return the table of these rows, in this order."""
        unchanged = len(order) == sum(map(len, self._kind)) and bool((order[1:] > order[:-1]).all())
        values = {}
        for name in self._metrics:
            values[name] = self._values.pop(name).column()
            if not unchanged:
                values[name] = values[name].take(order)
        kind, problem, repeat = (
            np.concatenate([*some, _NONE])[order]
            for some in (self._kind, self._problem, self._repeat)
        )
        seed = np.concatenate(self._seed)[order] if self._seed else np.array([], dtype=object)
        whole, problems = self._kinds.values, list(self._problems)
        return SeatTable(
            [{**whole[at].row, "at": at} for at in np.unique(kind).tolist()],
            whole,
            kind,
            problems,
            problem,
            _instance_of(problems)[problem],
            repeat,
            seed,
            values,
            self.bad,
            reasons,
            _mixed(problems),
            np.concatenate([*self._result, _NO_RESULTS])[order],
        )


def _instance_of(problems: Sequence[tuple[str, str, bytes]]) -> Codes:
    """Return, for each problem, the code of its instance; one instance may occur in several cells
    and thus in several problems."""
    known: dict[str, int] = {}
    found = [known.setdefault(id, len(known)) for _, id, _ in problems]
    return np.array(found, dtype=np.int64)


def _mixed(problems: Sequence[tuple[str, str, bytes]]) -> list[str]:
    """Return the instances that occur in one cell with different parameters."""
    seen = Counter((cell, id) for cell, id, _ in problems)
    return sorted({id for (_, id), n in seen.items() if n > 1})


_NONE: Codes = np.array([], dtype=np.int64)
_NO_RESULTS: NDArray[np.bool_] = np.array([], dtype=np.bool_)


# --- columns ------------------------------------------------------------------------------------


def table_columns(seats: SeatTable) -> dict[str, NDArray[Any]]:
    """Return the table as columns, with names in place of the codes of players."""
    rows = {row["at"]: row for row in seats.kinds}
    found = {name: _spread(seats, rows, name) for name in (*FINEST, "model", "strategy", PERSON)}
    ids = np.array([id for _, id, _ in seats.problems], dtype=object)
    whole = {name: column[:] for name, column in seats.values.items()}
    return {**found, "instance": ids[seats.problem], "repeat": seats.repeat, **whole}


def _spread(seats: SeatTable, rows: Mapping[int, Row], name: str) -> NDArray[Any]:
    values = [rows[n][name] if n in rows else None for n in range(len(seats.whole))]
    return np.array([*values, None], dtype=object)[seats.kind]


# --- means --------------------------------------------------------------------------------------


def table_means(
    seats: SeatTable, kinds: Sequence[Row], metrics: Sequence[str], keys: Sequence[str]
) -> list[Row]:
    """Return one row for each metric and group that has a value, in a fixed order.

    `results` is the number of episodes of the group with a result, `missing` the number without
    one. Payoffs are averaged over results only: a void episode pays 0 because nothing was played.
    """
    ordered = sorted(kinds, key=lambda row: [str(row[key]) for key in keys])
    groups = grouped(ordered, lambda kind: tuple(kind[key] for key in keys))
    number = {key: n for n, key in enumerate(groups)}
    most = max((row["at"] for row in seats.kinds), default=-1) + 1
    group_of = np.full(most, -1, dtype=np.int64)
    for key, group in groups.items():
        group_of[[row["at"] for row in group]] = number[key]
    group_of_row = group_of[seats.kind]
    order = np.argsort(group_of_row, kind="stable")
    ends = np.searchsorted(group_of_row[order], np.arange(len(groups) + 1))
    found = []
    for metric in metrics:
        for key, n in number.items():
            rows = order[ends[n] : ends[n + 1]]
            results = int(seats.result[rows].sum())
            counts = {"results": results, "missing": rows.size - results}
            if metric in PAID:
                rows = rows[seats.result[rows]]
            rows = rows[~np.isnan(seats.values[metric][rows])]
            if rows.size:
                head = dict(zip(keys, key, strict=True)) | counts
                found.append(head | mean_row(seats, groups[key], rows, metric))
    return found


def again_of(seats: SeatTable) -> Codes:
    """Return a code for the instance and repeat of each row; all lineups share the seed of a
    repeat."""
    span = int(seats.repeat.max(initial=0)) + 1
    return seats.instance * span + seats.repeat


def mean_row(seats: SeatTable, group: Sequence[Row], rows: Codes, metric: str) -> Row:
    """Return the mean of a metric over the given rows, with its interval, as columns of a result
    table."""
    return estimate_row(metric, mean_of_rows(seats, group, rows, metric))


def mean_of_rows(seats: SeatTable, group: Sequence[Row], rows: Codes, metric: str) -> Estimate:
    """Return the mean of a metric over these rows, clustered as in `rows.mean_of`."""
    seat_of = {row["at"]: row["seat"] for row in group}
    many = len(seats.problems)
    met = np.unique(seats.kind[rows] * many + seats.problem[rows]).tolist()
    people = {row["at"]: row["participant"] for row in group}
    named = None not in people.values()
    units: dict[str, Unit] = {
        "participants": [people[k] for k in seats.kind[rows].tolist()] if named else [None],
        "instances": as_met(seats.instance[rows]),
        "repeats of instances": as_met(again_of(seats)[rows]),
        "episodes": range(rows.size),
    }
    ends = enclosing(
        instance_bounds(metric, seats.problems[number][2], seat)
        for seat, number in {(seat_of[both // many], both % many) for both in met}
    )
    values = seats.values[metric][rows]
    return mean_within(metric, values, units[coarsest(units)], ends)
