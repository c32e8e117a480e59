"""The seats of a whole store as columns, taken from the index where it has them.

A row of the table is a seat of an episode. Who sat there is written once a kind, the rest are
arrays, so that a million episodes fit into memory and their means take seconds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally import store
from sally.analysis.ends import instance_ends, key_of, widest
from sally.analysis.measured import in_question
from sally.analysis.rows import Row, estimate_row, played, seat_rows
from sally.analysis.scores import STUDIED
from sally.core.code import fingerprint
from sally.core.errors import BadInput
from sally.core.log import Episode, Sitter, label, model_and_strategy
from sally.stats.rule import coarsest, mean_by_rule
from sally.store.index import Columns, Line

SEATS = "seats"
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class Kind(msgspec.Struct, frozen=True):
    """What seats have in common that are told apart by problem and chance alone."""

    cell: str
    game: str
    seat: str
    seats: tuple[str, ...]  # of the game, in its order
    lineup: dict[str, Sitter]
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
    seats: list[int]  # how many rows each line has
    kind: list[int]  # of each row
    problems: list[tuple[str, str, bytes]]  # cell, instance, and the instance's parameters
    kinds: list[Kind]


@dataclass
class Seats:
    """The rows of a store: who sat there as a number, the instance as another, and metrics."""

    kinds: list[Row]  # `at` is the number
    kind: Codes
    instance: Codes
    values: Mapping[str, Floats]  # not a number where there is none
    params: Sequence[tuple[bytes, ...]]  # by instance, its game and parameters; mixed ones have two
    bad: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    mixed: list[str] = field(default_factory=list)  # instances that changed between runs


def seats_in(
    where: store.Where, metrics: Sequence[str], watch: Callable[[int], None] | None = None
) -> Seats:
    """A row for each seat of each episode, each once; a finished run instead of a cut one."""
    gathered, lines = _Gathered(metrics), 0
    for at, found in store.columns(where, [SEATS, *metrics], fingerprint(), worked):
        gathered.add(at, found)
        lines += len(at)
        if watch is not None:
            watch(lines)
    store.quarantine_lines(store.place(where), gathered.bad_files)
    return gathered.seats()


def worked(lines: Sequence[Line], names: Sequence[str]) -> Columns:
    """These columns of some lines, each episode replayed once."""
    piece = Piece([], [], [], [], [], [], [], [])
    kinds, problems = dict[bytes, int](), dict[tuple[str, str, bytes], int]()
    metrics = [name for name in names if name != SEATS]
    values: dict[str, list[float]] = {name: [] for name in metrics}
    for _, _, line in lines:
        found = store.sound_line(line)
        if not isinstance(found, Episode):
            _note(piece, "", False, found, -1, 0)
            continue
        whole, setup = played(found), found.setup
        seats, asked = tuple(map(str, whole.replay.game.seats)), in_question(setup)
        for row in seat_rows(whole, metrics):
            kind = Kind(found.cell, setup.instance.game, row["seat"], seats, setup.lineup,
                        row["seat"] in asked)  # fmt: skip
            piece.kind.append(_numbered(kind, kinds, piece.kinds))
            for name in metrics:
                values[name].append(_number(found, name, row.get(name)))
        problem = (found.cell, setup.instance.id, key_of(setup.instance))
        if problem not in problems:
            problems[problem] = len(problems)
            piece.problems.append(problem)
        cut, why = store.to_run_again(found), store.reason(found)
        _note(piece, found.id, cut, why, problems[problem], len(seats))
    made = {name: _packed(np.array(values[name], dtype=np.float64)) for name in metrics}
    return made | ({SEATS: msgspec.msgpack.encode(piece)} if SEATS in names else {})


def _note(piece: Piece, id: str, cut: bool, why: str, problem: int, seats: int) -> None:
    piece.ids.append(id)
    piece.cut.append(cut)
    piece.why.append(why)
    piece.problem.append(problem)
    piece.seats.append(seats)


def _numbered(kind: Kind, known: dict[bytes, int], kinds: list[Kind]) -> int:
    key = msgspec.msgpack.encode(kind)
    if key not in known:
        known[key] = len(kinds)
        kinds.append(kind)
    return known[key]


def _number(episode: Episode, name: str, value: Any) -> float:
    if value is None:
        return math.nan
    if not math.isfinite(value):
        raise BadInput(f"Episode {episode.id}: {name} is {value}; a metric must be finite.")
    return float(value)


def _packed(values: Floats) -> bytes:
    return b"" if np.isnan(values).all() else values.tobytes()


class _Gathered:
    """Pieces put together, with the lines that count chosen in the end."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._metrics = metrics
        self._kinds: dict[bytes, int] = {}
        self._rows: list[Row] = []
        self._instances: dict[str, int] = {}
        self._asked: dict[tuple[str, str], set[bytes]] = {}
        self._kind: list[Codes] = []
        self._instance: list[Codes] = []
        self._values: dict[str, list[Floats]] = {name: [] for name in metrics}
        self._done: set[str] = set()
        self._count: list[NDArray[np.bool_]] = []  # which rows count
        self._cut: dict[str, tuple[int, int, str]] = {}  # id -> its rows, and why
        self._end = 0
        self.bad: list[str] = []
        self.bad_files: dict[str, None] = {}
        self._reasons: Counter[str] = Counter()

    def add(self, at: Sequence[tuple[str, int]], found: Columns) -> None:
        piece = msgspec.msgpack.decode(found[SEATS], type=Piece)
        codes = np.array([self._coded(kind) for kind in piece.kinds], dtype=np.int64)
        self._kind.append(codes[np.array(piece.kind, dtype=np.int64)] if piece.kind else _NONE)
        known = self._instances
        names = [known.setdefault(id, len(known)) for _, id, _ in piece.problems]
        problems = [names[n] for n in piece.problem if n >= 0]
        counts = [n for n in piece.seats if n]
        self._instance.append(np.repeat(np.array(problems, dtype=np.int64), counts))
        for cell, id, params in piece.problems:
            self._asked.setdefault((cell, id), set()).add(params)
        size = len(piece.kind)
        for name in self._metrics:
            column = np.frombuffer(found[name]) if found[name] else np.full(size, np.nan)
            self._values[name].append(column)
        self._choose(at, piece, size)

    def _choose(self, at: Sequence[tuple[str, int]], piece: Piece, size: int) -> None:
        """Count the first finished run of each episode; of cut ones it is known at the end."""
        here, row = np.ones(size, dtype=np.bool_), 0
        each = zip(at, piece.ids, piece.cut, piece.why, piece.seats, strict=True)
        for (file, line), id, cut, why, seats in each:
            if not id:
                self.bad.append(str(store.BadLine(file, line, why)))
                self.bad_files[file] = None
            elif cut or id in self._done:
                here[row : row + seats] = False
                if cut:
                    self._cut[id] = self._end + row, seats, why
            else:
                self._done.add(id)
                if why:
                    self._reasons[why] += 1
            row += seats
        self._count.append(here)
        self._end += size

    def _coded(self, kind: Kind) -> int:
        key = msgspec.msgpack.encode(kind)
        if key not in self._kinds:
            self._kinds[key] = len(self._rows)
            self._rows.append({**kind.row, "at": len(self._rows)})
        return self._kinds[key]

    def seats(self) -> Seats:
        order = np.flatnonzero(np.concatenate([*self._count, _NONE.astype(np.bool_)]))
        last: list[int] = []
        for id, (row, seats, why) in self._cut.items():
            if id not in self._done:
                last += range(row, row + seats)
                self._reasons[why] += 1
        order = np.concatenate([order, np.array(last, dtype=np.int64)])
        values = {
            name: np.concatenate([*columns, _NONE.astype(np.float64)])[order]
            for name, columns in self._values.items()
        }
        kind = np.concatenate([*self._kind, _NONE])[order]
        instance = np.concatenate([*self._instance, _NONE])[order]
        mixed = sorted({id for (_, id), asked in self._asked.items() if len(asked) > 1})
        there = set(np.unique(kind).tolist())
        rows = [row for row in self._rows if row["at"] in there]
        asked: dict[str, set[bytes]] = {id: set() for id in self._instances}
        for (_, id), params in self._asked.items():
            asked[id] |= params
        every = [tuple(sorted(params)) for params in asked.values()]
        return Seats(rows, kind, instance, values, every, self.bad, self._reasons, mixed)


_NONE: Codes = np.array([], dtype=np.int64)


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
                found.append(head | _mean(seats, groups[key], rows, metric))
    return found


def _mean(seats: Seats, group: Sequence[Row], rows: Codes, metric: str) -> Row:
    """The mean of a metric over some rows, clustered as `rows.mean_of` has it."""
    seat_of = {row["at"]: row["seat"] for row in group}
    met = set(zip(seats.kind[rows].tolist(), seats.instance[rows].tolist(), strict=True))
    people = {row["at"]: row["participant"] for row in group}
    told = None not in people.values()
    units: dict[str, Sequence[Any]] = {
        "participants": [people[k] for k in seats.kind[rows].tolist()] if told else [None],
        "instances": seats.instance[rows].tolist(),
        "episodes": range(rows.size),
    }
    ends = widest(
        instance_ends(metric, params, seat)
        for seat, number in {(seat_of[k], i) for k, i in met}
        for params in seats.params[number]
    )
    values = seats.values[metric][rows]
    return estimate_row(metric, mean_by_rule(values, units[coarsest(units)], ends))
