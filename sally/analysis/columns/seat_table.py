"""The seats of a whole store as columns, taken from the index where it has them.

A row of the table is a seat of an episode. Who sat there is written once a kind, the rest are
arrays, so that a million episodes fit into memory and their means take seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally import store
from sally.analysis.columns.dictionary_column import Coding, Column
from sally.analysis.columns.measured import in_question
from sally.analysis.columns.replayed_rows import laid_open
from sally.analysis.columns.rows import Row, estimate_row, seat_measures
from sally.analysis.columns.scores import FINEST, STUDIED
from sally.analysis.columns.seat_values import Values
from sally.analysis.profile.bounds import enclosing, instance_bounds, key_of, mean_within
from sally.core.log.events import Episode, PlayerSpec, label, model_and_strategy
from sally.core.log.fingerprint import fingerprint
from sally.core.rules.metric import Played
from sally.stats import Estimate
from sally.stats.cluster_interval import Unit, coarsest
from sally.stats.columns import as_met
from sally.store.deduplicate import Gathering, rows_of
from sally.store.index import Columns, Line

SEATS = "seats"
PERSON = "participant"
SEEDS = "seeds"  # apart from the rest: only pairing asks for them
Codes = NDArray[np.int64]
Whole = NDArray[np.object_]  # numbers of any size
Floats = NDArray[np.float64]


class Kind(msgspec.Struct, frozen=True):
    """What seats have in common that are told apart by problem and chance alone."""

    cell: str
    game: str
    seat: str
    seats: tuple[str, ...]  # of the game, in its order
    lineup: dict[str, PlayerSpec]
    studied: bool

    @property
    def row(self) -> Row:
        """Who sat there and with whom, as tables say it."""
        who = self.lineup[self.seat]
        model, strategy = model_and_strategy(who)
        others = ", ".join(label(self.lineup[s]) for s in self.seats if s != self.seat)
        said = {"cell": self.cell, "game": self.game, "seat": self.seat, "player": label(who)}
        said |= {"others": others, "model": model, "strategy": strategy}
        return {**said, "participant": who.params.get("participant"), STUDIED: self.studied}


class Piece(msgspec.Struct, array_like=True):
    """The seats of some lines; a line that holds no episode has an empty id."""

    ids: list[str]
    cut: list[bool]  # to be run again
    why: list[str]  # why there is no result, or no episode
    problem: list[int]
    repeat: list[int]
    seats: list[int]  # how many rows each line has
    kind: list[int]  # of each row
    problems: list[tuple[str, str, bytes]]  # cell, instance, and the instance's parameters
    kinds: list[Kind]


@dataclass
class Seats:
    """The rows of a store: who sat there as a number, the problem as another, and metrics."""

    kinds: list[Row]  # `at` is the number
    whole: list[Kind]  # by number, those that no row has among them
    kind: Codes
    problems: list[tuple[str, str, bytes]]  # cell, instance, and the instance's parameters
    problem: Codes
    instance: Codes
    repeat: Codes
    seed: Whole  # empty unless asked for
    values: Mapping[str, Column[np.float64]]  # not a number where there is none
    bad: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    mixed: list[str] = field(default_factory=list)  # instances that changed between runs


def seats_in(
    where: store.Where,
    metrics: Sequence[str],
    watch: Callable[[int], None] | None = None,
    seeds: bool = False,
) -> Seats:
    """A row for each seat of each episode, each once; a finished run instead of a cut one."""
    gathered, lines = Gathered(metrics), 0
    names = [SEATS, *([SEEDS] if seeds else ()), *metrics]
    for at, found in store.columns(where, names, fingerprint(), worked):
        gathered.add(at, found)
        lines += len(at)
        if watch is not None:
            watch(lines)
    store.quarantine_lines(store.place(where), gathered.bad_files)
    return gathered.seats()


def worked(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    """These columns of some lines, each episode replayed once."""
    return laid_open(lines, [SeatColumns(names)])


class SeatColumns:
    """The columns of a store's seats, line by line."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._metrics = names, frozenset(names) - {SEATS, SEEDS}
        self._piece = Piece([], [], [], [], [], [], [], [], [])
        self._seeds: list[int] = []
        self._alike: dict[bytes, tuple[int, dict[str, int]]] = {}  # by all but seed and repeat
        self._kinds: dict[bytes, int] = {}
        self._problems: dict[tuple[str, str, bytes], int] = {}
        self._values: dict[str, Values] = {}  # by family of games

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Take the seats of an episode, or note why a line holds none."""
        if not isinstance(found, Episode) or whole is None:
            self._note("", False, str(found), -1, 0, 0)
            self._seeds.append(0)
            return
        setup, rows, seats = found.setup, self._piece.kind, whole.replay.game.seats
        alike = msgspec.msgpack.encode((found.cell, setup.instance, setup.lineup, setup.arms))
        if (known := self._alike.get(alike)) is None:
            known = self._alike[alike] = self._new(found, seats)
        family = whole.spec.family or whole.spec.name
        if (values := self._values.get(family)) is None:
            values = self._values[family] = Values(seat_measures(family, self._metrics))
        values.add(whole, seats, len(rows))
        rows += [known[1][seat] for seat in seats]
        cut, why = store.to_run_again(found), store.reason(found)
        self._note(found.id, cut, why, known[0], setup.repeat, len(seats))
        self._seeds.append(setup.seed)

    def _new(self, found: Episode, seats: tuple[str, ...]) -> tuple[int, dict[str, int]]:
        """The number of an episode's problem, and by seat the number of what sat there."""
        setup, asked = found.setup, in_question(found.setup)
        game = setup.instance.game
        kinds = {
            seat: self._numbered(Kind(found.cell, game, seat, seats, setup.lineup, seat in asked))
            for seat in seats
        }
        problem = (found.cell, setup.instance.id, key_of(setup.instance))
        number = self._problems.setdefault(problem, len(self._problems))
        if number == len(self._piece.problems):
            self._piece.problems.append(problem)
        return number, kinds

    def _note(self, id: str, cut: bool, why: str, problem: int, repeat: int, seats: int) -> None:
        piece = self._piece
        piece.ids.append(id)
        piece.cut.append(cut)
        piece.why.append(why)
        piece.problem.append(problem)
        piece.repeat.append(repeat)
        piece.seats.append(seats)

    def _numbered(self, kind: Kind) -> int:
        number = self._kinds.setdefault(msgspec.msgpack.encode(kind), len(self._kinds))
        if number == len(self._piece.kinds):
            self._piece.kinds.append(kind)
        return number

    def columns(self) -> Columns:
        """What was taken, as the index keeps it."""
        rows = len(self._piece.kind)
        made = self._packed(rows)
        more = {SEATS: self._piece, SEEDS: self._seeds}
        return made | {n: msgspec.msgpack.encode(v) for n, v in more.items() if n in self._names}

    def _packed(self, rows: int) -> dict[str, bytes]:
        """The numbers of all rows, column by column; one without a number is empty."""
        made = dict.fromkeys(self._metrics, b"")
        whole: dict[str, Floats] = {}
        for values in self._values.values():
            for name, numbers in values.columns():
                if not np.isnan(numbers).all():
                    whole.setdefault(name, np.full(rows, np.nan))[values.rows] = numbers
        return made | {name: column.tobytes() for name, column in whole.items()}


class Gathered:
    """Pieces put together, with the lines that count chosen in the end."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._metrics = metrics
        self._kinds: dict[bytes, int] = {}
        self._rows: list[Row] = []
        self._whole: list[Kind] = []
        self._problems: dict[tuple[str, str, bytes], int] = {}
        self._kind: list[Codes] = []
        self._problem: list[Codes] = []
        self._repeat: list[Codes] = []
        self._seed: list[Whole] = []
        self._values = {name: Coding() for name in metrics}
        self._every = Gathering()
        self._many: list[Codes] = []  # rows of each line
        self._why: dict[int, str] = {}  # by line, why there is no result
        self._lines = 0
        self.bad: list[str] = []
        self.bad_files: dict[str, None] = {}

    def add(self, at: Sequence[tuple[str, int]], found: Columns) -> None:
        """Take a piece, and note which lines may count."""
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

    def add_rows(self, found: Columns) -> Piece:
        """Take the rows of a piece; a column that is not there has no value."""
        piece = msgspec.msgpack.decode(found[SEATS], type=Piece)
        codes = np.array([self._coded(kind) for kind in piece.kinds], dtype=np.int64)
        self._kind.append(codes[np.array(piece.kind, dtype=np.int64)] if piece.kind else _NONE)
        known = self._problems
        names = np.array([known.setdefault(p, len(known)) for p in piece.problems] + [-1])
        self._problem.append(np.repeat(names[piece.problem], piece.seats))
        self._repeat.append(np.repeat(np.array(piece.repeat, dtype=np.int64), piece.seats))
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

    def _coded(self, kind: Kind) -> int:
        key = msgspec.msgpack.encode(kind)
        if key not in self._kinds:
            self._kinds[key] = len(self._rows)
            self._rows.append({**kind.row, "at": len(self._rows)})
            self._whole.append(kind)
        return self._kinds[key]

    def rows_of_seat(self, seat: str) -> Codes:
        """The rows, by number, in which somebody sat in this seat."""
        mine = np.array([kind.seat == seat for kind in self._whole], dtype=np.bool_)
        return np.flatnonzero(mine[np.concatenate([*self._kind, _NONE])])

    def seats(self) -> Seats:
        """The rows of each episode once: finished ones as they come, then those that were cut."""
        count, cut = self._every.counted()
        lines = count.lines
        lines = np.concatenate([np.sort(lines[~cut[lines]]), lines[cut[lines]]])
        why = (self._why[n] for n in lines.tolist() if n in self._why) if self._why else ()
        return self.chosen(rows_of(lines, np.concatenate([*self._many, _NONE])), Counter(why))

    def chosen(self, order: Codes, reasons: Counter[str]) -> Seats:
        """The table of these rows, in this order."""
        as_it_is = len(order) == sum(map(len, self._kind)) and bool((order[1:] > order[:-1]).all())
        values = {}
        for name in self._metrics:
            values[name] = self._values.pop(name).column()
            if not as_it_is:
                values[name] = values[name].take(order)
        kind, problem, repeat = (
            np.concatenate([*some, _NONE])[order]
            for some in (self._kind, self._problem, self._repeat)
        )
        seed = np.concatenate(self._seed)[order] if self._seed else np.array([], dtype=object)
        there = set(np.unique(kind).tolist())
        rows = [row for row in self._rows if row["at"] in there]
        problems = list(self._problems)
        return Seats(
            rows,
            self._whole,
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
        )


def _instance_of(problems: Sequence[tuple[str, str, bytes]]) -> Codes:
    """By problem, the number of its instance, whatever cell it is in."""
    known: dict[str, int] = {}
    found = [known.setdefault(id, len(known)) for _, id, _ in problems]
    return np.array(found, dtype=np.int64)


def _mixed(problems: Sequence[tuple[str, str, bytes]]) -> list[str]:
    """Instances that changed between runs: one cell holds them with different parameters."""
    seen = Counter((cell, id) for cell, id, _ in problems)
    return sorted({id for (_, id), n in seen.items() if n > 1})


_NONE: Codes = np.array([], dtype=np.int64)


# --- columns ------------------------------------------------------------------------------------


def table_columns(seats: Seats) -> dict[str, NDArray[Any]]:
    """The table column by column, who sat there said in words."""
    said = {row["at"]: row for row in seats.kinds}
    found = {name: _spread(seats, said, name) for name in (*FINEST, "model", "strategy", PERSON)}
    ids = np.array([id for _, id, _ in seats.problems], dtype=object)
    whole = {name: column[:] for name, column in seats.values.items()}
    return {**found, "instance": ids[seats.problem], "repeat": seats.repeat, **whole}


def _spread(seats: Seats, said: Mapping[int, Row], name: str) -> NDArray[Any]:
    words = [said[n][name] if n in said else None for n in range(len(seats.whole))]
    return np.array([*words, None], dtype=object)[seats.kind]


# --- means --------------------------------------------------------------------------------------


def table_means(
    seats: Seats, kinds: Sequence[Row], metrics: Sequence[str], keys: Sequence[str]
) -> list[Row]:
    """One row for each metric in each group, those without a value left out, in a fixed order."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for kind in sorted(kinds, key=lambda row: [str(row[key]) for key in keys]):
        groups.setdefault(tuple(kind[key] for key in keys), []).append(kind)
    number = {key: n for n, key in enumerate(groups)}
    most = max((row["at"] for row in seats.kinds), default=-1) + 1
    group_of = np.full(most, -1, dtype=np.int64)
    for key, group in groups.items():
        group_of[[row["at"] for row in group]] = number[key]
    grouped = group_of[seats.kind]
    order = np.argsort(grouped, kind="stable")
    ends = np.searchsorted(grouped[order], np.arange(len(groups) + 1))
    found = []
    for metric in metrics:
        for key, n in number.items():
            rows = order[ends[n] : ends[n + 1]]
            rows = rows[~np.isnan(seats.values[metric][rows])]
            if rows.size:
                head = dict(zip(keys, key, strict=True))
                found.append(head | mean_row(seats, groups[key], rows, metric))
    return found


def again_of(seats: Seats) -> Codes:
    """A number for each repeat of each instance: its chance is the same, whoever sits there."""
    span = int(seats.repeat.max(initial=0)) + 1
    return seats.instance * span + seats.repeat


def mean_row(seats: Seats, group: Sequence[Row], rows: Codes, metric: str) -> Row:
    """The mean of a metric over some rows, as columns."""
    return estimate_row(metric, mean_of_rows(seats, group, rows, metric))


def mean_of_rows(seats: Seats, group: Sequence[Row], rows: Codes, metric: str) -> Estimate:
    """The mean of a metric over some rows that have it, clustered as `rows.mean_of` has it."""
    seat_of = {row["at"]: row["seat"] for row in group}
    many = len(seats.problems)
    met = np.unique(seats.kind[rows] * many + seats.problem[rows]).tolist()
    people = {row["at"]: row["participant"] for row in group}
    told = None not in people.values()
    units: dict[str, Unit] = {
        "participants": [people[k] for k in seats.kind[rows].tolist()] if told else [None],
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
