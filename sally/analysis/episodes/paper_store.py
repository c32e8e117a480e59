"""The episodes of a store that are a paper's: counted by the index, read when somebody looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, overload

import msgspec
import numpy as np

from sally import store
from sally.analysis.columns.replayed_rows import Part, laid_open
from sally.analysis.columns.rows import played
from sally.analysis.columns.seat_table import SEATS, Gathered, SeatColumns
from sally.analysis.columns.seat_table import Piece as SeatsPiece
from sally.analysis.compare.published import Condition
from sally.analysis.episodes import setups
from sally.analysis.episodes.setups import SetupsColumn
from sally.analysis.episodes.stored import FORFEITED, PAYOFF, Conditions, Floats, Told
from sally.core.log.events import Episode
from sally.core.log.fingerprint import fingerprint
from sally.core.match.replay import Replay
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.store.deduplicate import Gathering
from sally.store.index import At, Columns, Line

HELD = 20_000  # episodes that stay laid open in memory; those beyond are read again each time
Facts = Callable[[Played], Conditions | None]
_DECODER = msgspec.msgpack.Decoder(dict[str, dict[str, Condition]])


class FactsColumn:
    """By episode what it is for a paper, line by line; those that are not the paper's are left."""

    def __init__(self, name: str, facts: Facts) -> None:
        self._name, self._facts = name, facts
        self._found: dict[str, dict[str, Condition]] = {}

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Take an episode if it is the paper's."""
        if isinstance(found, Episode) and whole is not None:
            facts = self._facts(whole)
            if facts is not None:
                self._found[found.id] = dict(facts)

    def columns(self) -> Columns:
        """What was found, as the index keeps it."""
        return {self._name: msgspec.msgpack.encode(self._found)}


class Reread(Played):
    """An episode that is laid open anew whenever it is looked at."""

    _again: Callable[[], Played]

    def __init__(self, again: Callable[[], Played]) -> None:
        object.__setattr__(self, "_again", again)

    @property
    def spec(self) -> Any:
        return self._again().spec

    @property
    def episode(self) -> Episode:
        return self._again().episode

    @property
    def replay(self) -> Replay[Any, Any, Any]:
        return self._again().replay

    @property
    def known(self) -> dict[Any, Any]:
        return self._again().known


class PaperStore(Told):
    """A local store beside a paper.

    Where what an episode is for the paper follows from how it was set up (`of_setup`), one episode
    of each setup is read; else every line is replayed once.
    """

    def __init__(
        self,
        where: store.Where,
        paper: str,
        facts: Facts,
        seat: Seat,
        metrics: Sequence[str],
        of_setup: bool = False,
    ) -> None:
        self._reader, self._facts_of = store.Reader(where), facts
        self._numbers = (*dict.fromkeys(metrics), PAYOFF, FORFEITED)
        self._name = setups.COLUMN if of_setup else f"facts {paper}"
        self._by_setup: dict[bytes, int] = {}
        self._known_facts: dict[bytes, int] = {}
        self.facts: list[Conditions] = []
        self._held: dict[int, Played] = {}
        self._again = lru_cache(maxsize=256)(self._lay_open)
        self._gather(where, seat)

    def _work(self, lines: Sequence[Line], names: Sequence[str]) -> Columns:
        parts: list[Part] = []
        if seats := [name for name in names if name != self._name]:
            parts.append(SeatColumns(seats))
        if self._name in names:
            of_setup = self._name == setups.COLUMN
            parts.append(SetupsColumn() if of_setup else FactsColumn(self._name, self._facts_of))
        return laid_open(lines, parts)

    def _gather(self, where: store.Where, seat: Seat) -> None:
        seats, every, files = Gathered(self._numbers), Gathering(), dict[str, int]()
        ids, which, many, file, line = ([np.array([], dtype=np.int64)] for _ in range(5))
        names = [SEATS, self._name, *self._numbers]
        for at, found in store.columns(where, names, fingerprint(), self._work):
            piece = seats.add_rows(found)
            every.add(piece.ids, piece.cut)
            ids.append(np.array(piece.ids, dtype="S24"))
            which.append(self._told(at, piece, found[self._name]))
            many.append(np.array(piece.seats, dtype=np.int64))
            file.append(np.array([files.setdefault(name, len(files)) for name, _ in at], np.int64))
            line.append(np.array([number for _, number in at], dtype=np.int64))
        lines = every.counted()[0].lines
        self.many, told = len(lines), np.concatenate(which)
        lines = lines[told[lines] >= 0]  # the paper's
        self.which, self._files = told[lines], list(files)
        self._file, self._line = np.concatenate(file)[lines], np.concatenate(line)[lines]
        self._ids = np.concatenate([np.array([], dtype="S24"), *ids[1:]])[lines]
        rows = _rows_of_seat(seats, np.concatenate(many), seat)[lines]
        self._there = rows >= 0
        self._seats = seats.chosen(rows[self._there], Counter())
        self.instances = np.full(len(lines), -1, dtype=np.int64)
        self.instances[self._there] = self._seats.instance

    def _told(self, at: Sequence[At], piece: SeatsPiece, column: bytes) -> Any:
        """By line, the number of what its episode is; -1 where it is not the paper's."""
        if self._name != setups.COLUMN:
            found = _DECODER.decode(column)
            codes = [self._number(found.get(id)) for id in piece.ids]
            return np.array(codes, dtype=np.int64)
        alike = setups.piece_of(column)
        for number, setup in enumerate(alike.setups):
            if setup not in self._by_setup:
                first = alike.setup.index(number)
                episode = self._reader.episode(*at[first], piece.ids[first])
                self._by_setup[setup] = self._number(self._facts_of(played(episode)))
        codes = [self._by_setup[setup] for setup in alike.setups]
        return np.array([*codes, -1], dtype=np.int64)[alike.setup]

    def _number(self, facts: Conditions | None) -> int:
        if facts is None:
            return -1
        number = self._known_facts.setdefault(msgspec.msgpack.encode(facts), len(self.facts))
        if number == len(self.facts):
            self.facts.append(dict(facts))
        return number

    def numbers(self, metric: str) -> Floats:
        found = np.full(len(self), np.nan)
        found[self._there] = self._seats.values[metric][:]
        return found

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, at: int) -> tuple[Conditions, Played]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[Conditions, Played]]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[n] for n in range(len(self))[at]]
        n = range(len(self))[at]
        whole = self._opened(n) if len(self) <= HELD else Reread(lambda: self._opened(n))
        return self.facts[self.which[n]], whole

    def _opened(self, number: int) -> Played:
        if (found := self._held.get(number)) is not None:
            return found
        if len(self._held) >= HELD:
            return self._again(number)
        self._held[number] = found = self._lay_open(number)
        return found

    def _lay_open(self, number: int) -> Played:
        file, line = self._files[self._file[number]], int(self._line[number])
        return played(self._reader.episode(file, line, str(self._ids[number], "ascii")))


def _rows_of_seat(seats: Gathered, many: Any, seat: Seat) -> Any:
    """By line, its row of this seat; -1 where nobody sat there."""
    mine = seats.rows_of_seat(seat)
    found = np.full(len(many), -1, dtype=np.int64)
    found[np.repeat(np.arange(len(many)), many)[mine]] = mine
    return found
