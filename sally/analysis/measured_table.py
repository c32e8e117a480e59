"""The measured seats of a store, taken from the index where it has them.

What seats have in common is written once: seed, repeat and the numbers are each seat's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from sally import store
from sally.analysis.knowing import Knowing
from sally.analysis.laid_open import laid_open
from sally.analysis.measured import Acting, Measured, in_question, measured_seats
from sally.core.code import fingerprint
from sally.core.log import Episode, Setup
from sally.core.metric import Played, Terms
from sally.store.index import Columns, Line

Span = tuple[float, float]


class Shared(msgspec.Struct, frozen=True):
    """What the seats of one kind have in common."""

    cell: str
    family: str
    seat: str
    metric: str
    alike: str
    span: Span | None
    setup: Setup  # without seed and repeat


class Own(msgspec.Struct, array_like=True):
    """The numbers of one seat of one episode."""

    shared: int
    seed: int
    repeat: int
    setting: bytes
    doing: float | None
    least: float | None
    most: float | None
    optimum: float | None
    knowing: Knowing
    acting: Acting
    terms: Terms
    moves: int
    forfeits: int
    censored: str


MOST = 100_000  # different values that are looked for
_UNASKED = Knowing()
T = TypeVar("T", Acting, Terms)


class Piece(msgspec.Struct, array_like=True):
    """The measured seats of some lines; a line that holds no episode has an empty id."""

    ids: list[str]
    cut: list[bool]
    why: list[str]  # why a line holds no episode
    sat: list[tuple[str, ...]]  # seats in which somebody sat
    seats: list[list[Own]]
    shared: list[Shared]


class Counted(msgspec.Struct, frozen=True):
    """One line of a store: its episode measured, or why it holds none."""

    id: str
    cut: bool
    sat: tuple[str, ...]
    measured: list[Measured]
    bad: store.BadLine | None = None


def measured_lines(where: store.Where, seat: str = "", playable: bool = False) -> Iterator[Counted]:
    """Every line of a store with the seat that is named, or those in question, measured."""
    name = column(seat, playable)
    known: dict[bytes, Shared] = {}  # one object each, however many pieces name it
    once = _Once()

    def work(lines: Sequence[Line], names: Sequence[str]) -> Columns:
        return laid_open(lines, [MeasuredColumn(seat, playable)], playable)

    for at, found in store.columns(where, [name], fingerprint(), work):
        piece = _DECODER.decode(found[name])
        shared = [known.setdefault(msgspec.msgpack.encode(s), s) for s in piece.shared]
        each = zip(at, piece.ids, piece.cut, piece.why, piece.sat, piece.seats, strict=True)
        for (file, number), id, cut, why, sat, seats in each:
            bad = None if id else store.BadLine(file, number, why)
            whole = [once.whole(id, shared[own.shared], own) for own in seats]
            yield Counted(id, cut, once.sat(sat), whole, bad)


_DECODER = msgspec.msgpack.Decoder(Piece)


def column(seat: str = "", playable: bool = False) -> str:
    """The name of the column that holds the named seat measured, or those in question."""
    return f"{'playable, ' * playable}measured {seat}"


class MeasuredColumn:
    """The column of measured seats, line by line."""

    def __init__(self, seat: str = "", playable: bool = False) -> None:
        self._seat, self._known = seat, dict[bytes, int]()
        self._name = column(seat, playable)
        self._piece = Piece([], [], [], [], [], [])

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Measure an episode, or note why a line holds none."""
        if not isinstance(found, Episode) or whole is None:
            self._note("", False, str(found), (), [])
            return
        seats = (self._seat,) if self._seat else in_question(found.setup)
        owns = [_own(m, self._known, self._piece.shared) for m in measured_seats(whole, seats)]
        self._note(found.id, store.to_run_again(found), "", tuple(found.setup.lineup), owns)

    def _note(self, id: str, cut: bool, why: str, sat: tuple[str, ...], seats: list[Own]) -> None:
        piece = self._piece
        piece.ids.append(id)
        piece.cut.append(cut)
        piece.why.append(why)
        piece.sat.append(sat)
        piece.seats.append(seats)

    def columns(self) -> Columns:
        """What was measured, as the index keeps it."""
        return {self._name: msgspec.msgpack.encode(self._piece)}


def _own(m: Measured, known: dict[bytes, int], every: list[Shared]) -> Own:
    setup = msgspec.structs.replace(m.setup, seed=0, repeat=0)
    shared = Shared(m.cell, m.family, m.seat, m.metric, m.alike, m.span, setup)
    key = msgspec.msgpack.encode(shared)
    if key not in known:
        known[key] = len(every)
        every.append(shared)
    return Own(
        known[key],
        m.setup.seed,
        m.setup.repeat,
        bytes.fromhex(m.setting),
        m.doing,
        m.least,
        m.most,
        m.optimum,
        m.knowing,
        m.acting,
        m.terms,
        m.moves,
        m.forfeits,
        m.censored,
    )


class _Once:
    """Whole measures from their columns, in which what is equal is one object: millions fit."""

    def __init__(self) -> None:
        self._numbers: dict[float | None, float | None] = {}
        self._equal: dict[Knowing | Acting | Terms, Any] = {}
        self._sat: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._setup: tuple[Setup, Setup] | None = None  # the last one, and what it was made from

    def sat(self, seats: tuple[str, ...]) -> tuple[str, ...]:
        return self._sat.setdefault(seats, seats)

    def whole(self, id: str, shared: Shared, own: Own) -> Measured:
        """One seat of one episode as it was measured."""
        doing, least, most, optimum = map(
            self._number, (own.doing, own.least, own.most, own.optimum)
        )
        return Measured(
            episode=id,
            cell=shared.cell,
            family=shared.family,
            setup=self._setup_of(shared.setup, own),
            seat=shared.seat,
            setting=own.setting.hex(),
            alike=shared.alike,
            metric=shared.metric,
            doing=doing,
            least=least,
            most=most,
            span=shared.span,
            optimum=optimum,
            knowing=_UNASKED if own.knowing == _UNASKED else own.knowing,
            acting=self._one(own.acting),
            terms=self._one(own.terms),
            moves=own.moves,
            forfeits=own.forfeits,
            censored=own.censored,
        )

    def _number(self, value: float | None) -> float | None:
        return self._numbers.setdefault(value, value) if len(self._numbers) < MOST else value

    def _one(self, value: T) -> T:
        found: T = self._equal.setdefault(value, value) if len(self._equal) < MOST else value
        return found

    def _setup_of(self, s: Setup, own: Own) -> Setup:
        """With seed and repeat; the seats of an episode share it."""
        if self._setup is not None and self._setup[0] is s:
            last = self._setup[1]
            if (last.seed, last.repeat) == (own.seed, own.repeat):
                return last
        found = Setup(s.instance, own.seed, s.lineup, s.version, s.arms, s.injections, s.retries,
                      own.repeat)  # fmt: skip
        self._setup = s, found
        return found
