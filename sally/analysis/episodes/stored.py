"""The episodes of a store as a paper's tables see them: what each is, and what they come to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sally.analysis.columns.rows import played
from sally.analysis.compare.published import Condition
from sally.analysis.profile.bounds import metric_bounds
from sally.core.errors import BadInput, listed
from sally.core.log.events import Episode, Forfeited
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.stats.cluster_interval import PEOPLE, Bounds, Unit, coarsest, mean_by_rule
from sally.stats.columns import as_met
from sally.stats.intervals import Estimate

PAYOFF, FORFEITED = "payoff", "forfeited"  # columns that every seat has
TOTAL = "total"  # a row's condition that every episode meets: the table's own total
Conditions = Mapping[str, Condition]
Known = Sequence[tuple[Conditions, Played]]  # stored episodes with what they are
Uneven = Callable[[Conditions, Sequence[Conditions]], str | None]  # (row, what its episodes are)
Floats = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


class Found(msgspec.Struct, frozen=True):
    """What the stored episodes say of one cell."""

    ours: Estimate | None = None
    note: str | None = None  # what a reader has to know of it
    computed: bool = False  # without stored episodes
    censored: int = 0  # episodes that were cut short and give no figure
    forfeited: int = 0  # moves that were forfeited in the episodes that meet the row


@dataclass(frozen=True)
class Matching:
    """How episodes are told apart for one paper."""

    facts: Callable[[Played], Conditions | None]  # what an episode is; None: not the paper's
    completes: Callable[[Conditions], Conditions]  # what a row leaves unsaid, as the study has it
    seat: Seat  # whose figures they are
    who: str = "model"  # the condition that names the model
    pools: frozenset[str] = frozenset()  # facts that may differ within a cell
    uneven: Uneven | None = None  # why a mean is lopsided


def told_apart(
    facts: Callable[[Played], Conditions | None], episodes: Iterable[Episode]
) -> Iterator[tuple[Conditions, Played]]:
    """The paper's episodes among these, laid open, with what they are."""
    for episode in episodes:
        whole = played(episode)
        if (found := facts(whole)) is not None:
            yield found, whole


class Told(Sequence[tuple[Conditions, Played]]):
    """A paper's episodes in the order of their store, and what is counted of them as columns."""

    facts: list[Conditions]  # what episodes are, each once
    which: Codes  # by episode, the number of what it is
    instances: Codes  # by episode, the number of its instance

    @abstractmethod
    def numbers(self, metric: str) -> Floats:
        """By episode a metric of the paper's seat; not a number where there is none."""

    def those(self, test: Callable[[Conditions], bool]) -> Known:
        """The episodes that are such."""
        wanted = [n for n, facts in enumerate(self.facts) if test(facts)]
        return [self[n] for n in np.flatnonzero(np.isin(self.which, wanted)).tolist()]


def those(known: Known, test: Callable[[Conditions], bool]) -> Known:
    """The episodes that are such, whoever holds them; the others are not looked at."""
    if isinstance(known, Told):
        return known.those(test)
    return [pair for pair in known if test(pair[0])]


class InMemory(Told):
    """Episodes that are laid open already."""

    def __init__(self, known: Iterable[tuple[Conditions, Played]], seat: Seat) -> None:
        self._known, self._seat = list(known), seat
        numbers, places = dict[tuple[Any, ...], int](), dict[str, int]()
        self.facts, which = [], []
        for facts, _ in self._known:
            which.append(numbers.setdefault(tuple(facts.items()), len(numbers)))
            if len(numbers) > len(self.facts):
                self.facts.append(facts)
        self.which = np.array(which, dtype=np.int64)
        ids = [p.episode.setup.instance.id for _, p in self._known]
        self.instances = np.array([places.setdefault(id, len(places)) for id in ids], np.int64)
        self._numbers: dict[str, Floats] = {}

    def numbers(self, metric: str) -> Floats:
        if metric not in self._numbers:
            values = map(self._measure(metric), (p for _, p in self._known))
            self._numbers[metric] = np.array(list(values), dtype=np.float64)
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

    def __len__(self) -> int:
        return len(self._known)

    @overload
    def __getitem__(self, at: int) -> tuple[Conditions, Played]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[Conditions, Played]]: ...
    def __getitem__(self, at: int | slice) -> Any:
        return self._known[at]


class Stored:
    """Stored episodes by what they are, measured when a row asks for them."""

    def __init__(self, how: Matching, known: Told, model: str | None) -> None:
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
        """The episodes that meet every condition of a row, by number."""
        asked = dict(self._how.completes(row))
        if self._model is not None and self._how.who in row:
            asked[self._how.who] = self._model
        met = [n for n, facts in enumerate(self.known.facts) if self._meets(facts, asked)]
        return np.flatnonzero(np.isin(self.known.which, met))

    def measured(self, row: Conditions, metric: str) -> Found:
        """The mean of one of our metrics over the episodes that meet a row."""
        registry.pick("metric", metric, registry.entries("metrics"))
        known, there = self.known, self.meeting(row)
        facts = [known.facts[n] for n in as_they_appear(known.which[there])]
        if mixed := self._mixed(facts):
            return Found(None, f"not pooled: episodes differ in {mixed}")
        values = known.numbers(metric)[there]
        given = ~np.isnan(values)
        ours, note = None, None
        if given.any():
            uneven, which = self._how.uneven, known.which[there[given]].tolist()
            note = uneven(row, [known.facts[n] for n in which]) if uneven is not None else None
            instances = as_met(known.instances[there[given]])
            ours = pooled(values[given], instances, metric_bounds(metric))
        elif len(there):
            note = "the episodes give no figure: censored, forfeited or not asked"
        cut = np.isnan(known.numbers(PAYOFF)[there]) & ~given
        lost = known.numbers(FORFEITED)[there]
        return Found(ours, note, False, int(cut.sum()), int(np.nansum(lost)))

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
        """What the episodes of a cell differ in although nothing says that they may."""
        names = {name for facts in there for name in facts} - self._how.pools - {self._how.who}
        apart = []
        for name in sorted(names):
            values = list(dict.fromkeys(str(facts.get(name)) for facts in there))
            if len(values) > 1:
                apart.append(f"{name} ({listed(values)})")
        return listed(apart) if apart else ""

    def _refuse_two_of_a_name(self) -> None:
        """Two ways to one model are two models until the user says which is meant."""
        seen: dict[str, str] = {}
        for model in self.models:
            if self._model in (None, short(model)):
                other = seen.setdefault(short(model), model)
                if other != model:
                    raise BadInput(
                        f"The store holds episodes of {other} and of {model}, which have one name "
                        f"in the tables; say which model is meant, such as {other}."
                    )


def as_they_appear(codes: Codes) -> list[int]:
    """Each number once, in the order of appearance."""
    there, first = np.unique(codes, return_index=True)
    found: list[int] = there[np.argsort(first)].tolist()
    return found


def short(model: str) -> str:
    """A model without its provider, as tables name it: `openai/gpt-4o` is gpt-4o."""
    return model.rpartition("/")[2].casefold()


def same_model(stored: str, asked: str) -> bool:
    """Whether an episode's model is the one asked for, by its whole name or its short one."""
    return asked in (stored, short(stored))


def pooled(
    values: ArrayLike,
    together: Unit,
    ends: Bounds | None = None,
    people: bool = False,
) -> Estimate:
    """A mean with its 95% interval by our one rule (`sally.stats.cluster_interval`).

    Episodes of one instance hang together, so instances count and not their repeats; where there
    are too few instances, each repeat does; people always count as people.
    """
    unit = PEOPLE if people else "instances"
    column = np.asarray(values, dtype=np.float64)
    units: dict[str, Unit] = {unit: together, "episodes": range(len(column))}
    return mean_by_rule(column, units[coarsest(units)], ends)
