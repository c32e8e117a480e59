"""The episodes of a store that belong to a paper: their conditions, and means for its tables.

Counts and metrics come from the index; an episode is read only when it is needed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sally import store
from sally.analysis.columns.dictionary_column import Dictionary
from sally.analysis.columns.replayed_rows import ColumnBuilder, replayed_columns
from sally.analysis.columns.rows import played
from sally.analysis.columns.seat_table import SEATS, SeatChunk, SeatColumns, SeatTableBuilder
from sally.analysis.compare.published import Condition
from sally.analysis.profile.bounds import metric_bounds
from sally.core.errors import BadInput, listed
from sally.core.log.events import Episode, Forfeited
from sally.core.registry import registry
from sally.core.registry.fingerprint import fingerprint
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.core.rules.replay import Trajectory
from sally.stats.cluster_interval import PEOPLE, Bounds, Unit, coarsest, mean_by_rule
from sally.stats.columns import as_met
from sally.stats.intervals import Estimate
from sally.store.deduplicate import Deduplicator
from sally.store.index import At, Columns, Line

PAYOFF, FORFEITED = "payoff", "forfeited"  # columns that every seat has
TOTAL = "total"  # a condition that every episode meets: the table's own total
Conditions = Mapping[str, Condition]
Known = Sequence[tuple[Conditions, Played]]  # stored episodes with their conditions
Uneven = Callable[[Conditions, Sequence[Conditions]], str | None]  # (row, conditions of episodes)
Floats = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]
HELD = 20_000  # replayed episodes kept in memory; further ones are read again each time
Facts = Callable[[Played], Conditions | None]
_DECODER = msgspec.msgpack.Decoder(dict[str, dict[str, Condition]])
SETUPS = "setups"  # the column of the index


class TableFigure(msgspec.Struct, frozen=True):
    """Our figure for one cell of a table, from stored episodes."""

    ours: Estimate | None = None
    note: str | None = None  # a caveat for the reader
    computed: bool = False  # without stored episodes
    censored: int = 0  # episodes that were cut short and give no figure
    forfeited: int = 0  # forfeited moves in the episodes of the row


@dataclass(frozen=True)
class Matching:
    """The rules by which episodes are matched to the rows of one paper's tables."""

    facts: Callable[[Played], Conditions | None]  # an episode's conditions; None: not the paper's
    completes: Callable[[Conditions], Conditions]  # adds the conditions that a row leaves implicit
    seat: Seat  # the seat that is measured
    who: str = "model"  # the condition that names the model
    pools: frozenset[str] = frozenset()  # conditions that may differ within a cell
    uneven: Uneven | None = None  # why a mean over these episodes is unbalanced


def with_conditions(
    facts: Callable[[Played], Conditions | None], episodes: Iterable[Episode]
) -> Iterator[tuple[Conditions, Played]]:
    """Yield the paper's episodes, replayed, with their conditions."""
    for episode in episodes:
        whole = played(episode)
        if (found := facts(whole)) is not None:
            yield found, whole


class PaperEpisodes(Sequence[tuple[Conditions, Played]]):
    """A paper's episodes in the order of their store, with columns of conditions and metrics."""

    facts: list[Conditions]  # distinct conditions
    which: Codes  # by episode, the index into `facts`
    instances: Codes  # by episode, the code of its instance

    @abstractmethod
    def numbers(self, metric: str) -> Floats:
        """Return the value of a metric for the seat that the paper evaluates, episode by episode;
        NaN where there is no value."""

    @abstractmethod
    def _replayed(self, number: int) -> Played:
        """Return one episode, replayed."""

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, at: int) -> tuple[Conditions, Played]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[Conditions, Played]]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[n] for n in range(len(self))[at]]
        number = range(len(self))[at]
        return self.facts[self.which[number]], self._replayed(number)

    def those(self, test: Callable[[Conditions], bool]) -> Known:
        """Return the episodes whose conditions pass a test."""
        wanted = [n for n, facts in enumerate(self.facts) if test(facts)]
        return [self[n] for n in np.flatnonzero(np.isin(self.which, wanted)).tolist()]


def those(known: Known, test: Callable[[Conditions], bool]) -> Known:
    """Return the episodes whose conditions pass a test, without reading the others."""
    if isinstance(known, PaperEpisodes):
        return known.those(test)
    return [pair for pair in known if test(pair[0])]


class InMemory(PaperEpisodes):
    """The replayed episodes of a paper, held in memory."""

    def __init__(self, known: Iterable[tuple[Conditions, Played]], seat: Seat) -> None:
        pairs, facts, instances = list(known), Dictionary(), Dictionary()
        which = [facts.code(each, tuple(each.items())) for each, _ in pairs]
        places = [instances.code(p.episode.setup.instance.id) for _, p in pairs]
        self._played, self._seat = [whole for _, whole in pairs], seat
        self.facts, self.which = facts.values, np.array(which, dtype=np.int64)
        self.instances = np.array(places, dtype=np.int64)
        self._numbers: dict[str, Floats] = {}

    def numbers(self, metric: str) -> Floats:
        if metric not in self._numbers:
            values = list(map(self._measure(metric), self._played))
            self._numbers[metric] = np.array(values, dtype=np.float64)
        return self._numbers[metric]

    def _measure(self, metric: str) -> Callable[[Played], float | None]:
        if metric == PAYOFF:
            return lambda p: None if p.episode.payoffs is None else 0.0
        if metric == FORFEITED:
            return self._forfeits
        measure = registry.pick("metric", metric, registry.entries("metrics")).measure
        return lambda p: measure(p, self._seat)

    def _forfeits(self, played: Played) -> float:
        mine = (e for e in played.episode.events if isinstance(e, Forfeited))
        return sum(event.seat == self._seat for event in mine)

    def _replayed(self, number: int) -> Played:
        return self._played[number]


# --- a paper's episodes in a local store ----------------------------------------------------------


class SetupChunk(msgspec.Struct, array_like=True):
    """The setups of some lines of a store, as codes; seed and repeat are ignored, and -1 marks a
    line without an episode."""

    setup: list[int]
    setups: list[bytes]  # by code, a hash of the setup


class SetupsColumn:
    """Builder of the index column that stores the setup of each episode."""

    def __init__(self) -> None:
        self._setup: list[int] = []
        self._setups = Dictionary()

    def add(self, found: Episode | str, whole: Played | None = None) -> None:
        """Add the setup of an episode, or record that a line holds no episode."""
        if isinstance(found, str):
            self._setup.append(-1)
            return
        s = found.setup
        shared = (s.instance, s.lineup, s.version, s.arms, s.injections, s.retries, s.fork)
        asked = msgspec.msgpack.encode((found.cell, found.used, shared))
        self._setup.append(self._setups.code(asked))

    def columns(self) -> Columns:
        """Return the column as the index stores it."""
        hashes = [blake2b(asked, digest_size=16).digest() for asked in self._setups.values]
        return {SETUPS: msgspec.msgpack.encode(SetupChunk(self._setup, hashes))}


class FactsColumn:
    """Builder of the index column of a paper's conditions, by episode."""

    def __init__(self, name: str, facts: Facts) -> None:
        self._name, self._facts = name, facts
        self._found: dict[str, dict[str, Condition]] = {}

    def add(self, found: Episode | str, whole: Played | None) -> None:
        """Add an episode if it belongs to the paper."""
        if isinstance(found, Episode) and whole is not None:
            facts = self._facts(whole)
            if facts is not None:
                self._found[found.id] = dict(facts)

    def columns(self) -> Columns:
        """Return the column as the index stores it."""
        return {self._name: msgspec.msgpack.encode(self._found)}


class LazyEpisode(Played):
    """An episode that is read and replayed again whenever it is used."""

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
    def replay(self) -> Trajectory[Any, Any, Any]:
        return self._again().replay

    @property
    def known(self) -> dict[Any, Any]:
        return self._again().known


class PaperStore(PaperEpisodes):
    """A paper's episodes in a local store.

    If an episode's conditions follow from its setup (`of_setup`), one episode of each setup is
    read; otherwise every line is replayed once.
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
        self._name = SETUPS if of_setup else f"facts {paper}"
        self._by_setup: dict[bytes, int] = {}
        self._distinct = Dictionary()
        self.facts = self._distinct.values
        self._held: dict[int, Played] = {}
        self._again = lru_cache(maxsize=256)(self._lay_open)
        self._gather(where, seat)

    def _work(self, lines: Sequence[Line], names: Sequence[str]) -> Columns:
        parts: list[ColumnBuilder] = []
        if seats := [name for name in names if name != self._name]:
            parts.append(SeatColumns(seats))
        if self._name in names:
            of_setup = self._name == SETUPS
            parts.append(SetupsColumn() if of_setup else FactsColumn(self._name, self._facts_of))
        return replayed_columns(lines, parts)

    def _gather(self, where: store.Where, seat: Seat) -> None:
        seats, every, files = SeatTableBuilder(self._numbers), Deduplicator(), dict[str, int]()
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

    def _told(self, at: Sequence[At], piece: SeatChunk, column: bytes) -> Any:
        """Return, for each stored line, the code of its combination of conditions.

        The code is -1 for an episode that does not belong to the paper.
        """
        if self._name != SETUPS:
            found = _DECODER.decode(column)
            codes = [self._number(found.get(id)) for id in piece.ids]
            return np.array(codes, dtype=np.int64)
        alike = msgspec.msgpack.decode(column, type=SetupChunk)
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
        return self._distinct.code(dict(facts), msgspec.msgpack.encode(facts))

    def numbers(self, metric: str) -> Floats:
        found = np.full(len(self), np.nan)
        found[self._there] = self._seats.values[metric][:]
        return found

    def _replayed(self, number: int) -> Played:
        if len(self) > HELD:
            return LazyEpisode(lambda: self._opened(number))
        return self._opened(number)

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


def _rows_of_seat(seats: SeatTableBuilder, many: Any, seat: Seat) -> Any:
    """Return, for each line of the store, the row number of this seat; -1 if the line has no such
    row."""
    mine = seats.rows_of_seat(seat)
    found = np.full(len(many), -1, dtype=np.int64)
    found[np.repeat(np.arange(len(many)), many)[mine]] = mine
    return found


# --- means of a table's rows ----------------------------------------------------------------------


class TableMatcher:
    """The episodes of a paper, matched to the rows of its tables."""

    def __init__(self, how: Matching, known: PaperEpisodes, model: str | None) -> None:
        self._how, self._model = how, model
        self.known = known
        self._refuse_two_of_a_name()

    @property
    def models(self) -> list[str]:
        """The models that played, in order of appearance."""
        there = as_they_appear(self.known.which)
        every = (self.known.facts[n] for n in there)
        return list(dict.fromkeys(str(f[self._how.who]) for f in every if self._how.who in f))

    def meeting(self, row: Conditions) -> Codes:
        """Return the indices of the episodes that meet every condition of a table row."""
        asked = dict(self._how.completes(row))
        if self._model is not None and self._how.who in row:
            asked[self._how.who] = self._model
        met = [n for n, facts in enumerate(self.known.facts) if self._meets(facts, asked)]
        return np.flatnonzero(np.isin(self.known.which, met))

    def measured(self, row: Conditions, metric: str) -> TableFigure:
        """Return the mean of one of our metrics over the episodes of a table row."""
        registry.pick("metric", metric, registry.entries("metrics"))
        known, there = self.known, self.meeting(row)
        facts = [known.facts[n] for n in as_they_appear(known.which[there])]
        if mixed := self._mixed(facts):
            return TableFigure(None, f"not pooled: episodes differ in {mixed}")
        values = known.numbers(metric)[there]
        given = ~np.isnan(values)
        ours, note = None, None
        if given.any():
            uneven, which = self._how.uneven, known.which[there[given]].tolist()
            note = uneven(row, [known.facts[n] for n in which]) if uneven is not None else None
            instances = as_met(known.instances[there[given]])
            strata = self._strata(which)
            ours = pooled(values[given], instances, metric_bounds(metric), strata=strata)
        elif len(there):
            note = "the episodes give no figure: censored, forfeited or not asked"
        cut = np.isnan(known.numbers(PAYOFF)[there]) & ~given
        lost = known.numbers(FORFEITED)[there]
        return TableFigure(ours, note, False, int(cut.sum()), int(np.nansum(lost)))

    def _strata(self, which: Sequence[int]) -> Unit:
        """Return the stratum of each episode.

        A stratum is a combination of values of the conditions over which a table cell averages.
        """
        names, codes = sorted(self._how.pools), Dictionary()
        facts = {n: tuple(self.known.facts[n].get(name) for name in names) for n in set(which)}
        return np.array([codes.code(facts[n]) for n in which], dtype=np.int64)

    def _meets(self, facts: Conditions, asked: Conditions) -> bool:
        for name, value in asked.items():
            if value == TOTAL:
                continue
            if name == self._how.who and not same_model(str(facts.get(name)), str(value)):
                return False
            if name != self._how.who and facts.get(name) != value:
                return False
        return True

    def _mixed(self, there: Sequence[Conditions]) -> str:
        """Return the conditions that vary within a table cell although the table does not average
        over them."""
        names = {name for facts in there for name in facts} - self._how.pools - {self._how.who}
        apart = []
        for name in sorted(names):
            values = list(dict.fromkeys(str(facts.get(name)) for facts in there))
            if len(values) > 1:
                apart.append(f"{name} ({listed(values)})")
        return listed(apart) if apart else ""

    def _refuse_two_of_a_name(self) -> None:
        """Raise BadInput if two models of the store share the short name used in tables."""
        seen: dict[str, str] = {}
        for model in self.models:
            if self._model in (None, short(model)):
                other = seen.setdefault(short(model), model)
                if other != model:
                    raise BadInput(
                        f"The store holds episodes of {other} and of {model}, which have the same "
                        f"name in the tables; name the model in full, such as {other}."
                    )


def as_they_appear(codes: Codes) -> list[int]:
    """Return the distinct codes in order of appearance."""
    there, first = np.unique(codes, return_index=True)
    found: list[int] = there[np.argsort(first)].tolist()
    return found


def short(model: str) -> str:
    """Return a model's name without its provider, in lower case: `openai/gpt-4o` is gpt-4o."""
    return model.rpartition("/")[2].casefold()


def same_model(stored: str, asked: str) -> bool:
    """Return whether a stored model matches a name, which may be the full or the short name."""
    return asked in (stored, short(stored))


def pooled(
    values: ArrayLike,
    together: Unit,
    ends: Bounds | None = None,
    people: bool = False,
    strata: Unit | None = None,
) -> Estimate:
    """Return a mean with its 95% interval (`sally.stats.cluster_interval`).

    Episodes of one instance are not independent, so they form a cluster; if there are too few
    instances, each episode is a cluster. Episodes of one person always form a cluster. Differences
    between `strata`, the groups of episodes that the design fixed, do not count as error.
    """
    unit = PEOPLE if people else "instances"
    column = np.asarray(values, dtype=np.float64)
    units: dict[str, Unit] = {unit: together, "episodes": range(len(column))}
    several = strata is not None and len(np.unique(np.asarray(strata))) > 1
    return mean_by_rule(column, units[coarsest(units)], ends, strata if several else None)
