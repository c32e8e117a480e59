"""The measured seats of a store, taken from the index where it has them.

What seats have in common is written once: seed, repeat and the numbers are each seat's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def measured_lines(where: store.Where, seat: str = "") -> Iterator[Counted]:
    """Every line of a store with the seat that is named, or those in question, measured."""
    name = column(seat)
    known: dict[bytes, Shared] = {}  # one object each, however many pieces name it

    def work(lines: Sequence[Line], names: Sequence[str]) -> Columns:
        return laid_open(lines, [MeasuredColumn(seat)])

    for at, found in store.columns(where, [name], fingerprint(), work):
        piece = _DECODER.decode(found[name])
        shared = [known.setdefault(msgspec.msgpack.encode(s), s) for s in piece.shared]
        each = zip(at, piece.ids, piece.cut, piece.why, piece.sat, piece.seats, strict=True)
        for (file, number), id, cut, why, sat, seats in each:
            bad = None if id else store.BadLine(file, number, why)
            yield Counted(id, cut, sat, [_whole(id, shared[own.shared], own) for own in seats], bad)


_DECODER = msgspec.msgpack.Decoder(Piece)


def column(seat: str = "") -> str:
    """The name of the column that holds the named seat measured, or those in question."""
    return f"measured {seat}"


class MeasuredColumn:
    """The column of measured seats, line by line."""

    def __init__(self, seat: str = "") -> None:
        self._seat, self._known = seat, dict[bytes, int]()
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
        return {column(self._seat): msgspec.msgpack.encode(self._piece)}


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


def _whole(id: str, shared: Shared, own: Own) -> Measured:
    s = shared.setup
    setup = Setup(s.instance, own.seed, s.lineup, s.version, s.arms, s.injections, s.retries,
                  own.repeat)  # fmt: skip
    return Measured(
        episode=id,
        cell=shared.cell,
        family=shared.family,
        setup=setup,
        seat=shared.seat,
        setting=own.setting.hex(),
        alike=shared.alike,
        metric=shared.metric,
        doing=own.doing,
        least=own.least,
        most=own.most,
        span=shared.span,
        optimum=own.optimum,
        knowing=own.knowing,
        acting=own.acting,
        terms=own.terms,
        moves=own.moves,
        forfeits=own.forfeits,
        censored=own.censored,
    )
