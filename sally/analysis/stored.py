"""The episodes of a store as a paper's tables see them: what each is, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sally.analysis.ends import ends_of
from sally.analysis.published import Condition
from sally.analysis.rows import played
from sally.core import shelf
from sally.core.errors import BadInput, listed
from sally.core.game import Seat
from sally.core.log import Episode, Forfeited
from sally.core.metric import Played
from sally.stats.intervals import Estimate
from sally.stats.rule import PEOPLE, Bounds, coarsest, mean_by_rule

TOTAL = "total"  # a row's condition that every episode meets: the table's own total
Conditions = Mapping[str, Condition]
Known = Sequence[tuple[Conditions, Played]]  # stored episodes with what they are


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
    uneven: Callable[[Conditions, Known], str | None] | None = None  # why a mean is lopsided


def told_apart(
    facts: Callable[[Played], Conditions | None], episodes: Iterable[Episode]
) -> Iterator[tuple[Conditions, Played]]:
    """The paper's episodes among these, laid open, with what they are."""
    for episode in episodes:
        whole = played(episode)
        if (found := facts(whole)) is not None:
            yield found, whole


class Stored:
    """Stored episodes by what they are, measured when a row asks for them."""

    def __init__(
        self, how: Matching, known: Iterable[tuple[Conditions, Played]], model: str | None
    ) -> None:
        self._how, self._model = how, model
        self.known = list(known)
        self._measured: dict[tuple[str, str], float | None] = {}
        self._refuse_two_of_a_name()

    @property
    def models(self) -> list[str]:
        """The models that played, in order of appearance."""
        named = (str(f[self._how.who]) for f, _ in self.known if self._how.who in f)
        return list(dict.fromkeys(named))

    def meeting(self, row: Conditions) -> Known:
        """The episodes that meet every condition of a row."""
        asked = dict(self._how.completes(row))
        if self._model is not None and self._how.who in row:
            asked[self._how.who] = self._model
        return [(f, p) for f, p in self.known if self._meets(f, asked)]

    def measured(self, row: Conditions, metric: str) -> Found:
        """The mean of one of our metrics over the episodes that meet a row."""
        there = self.meeting(row)
        if mixed := self._mixed(there):
            return Found(None, f"not pooled: episodes differ in {mixed}")
        found = [(pair, self._value(pair[1], metric)) for pair in there]
        given = [(pair, value) for pair, value in found if value is not None]
        ours, note = None, None
        if given:
            uneven = self._how.uneven
            note = uneven(row, [pair for pair, _ in given]) if uneven is not None else None
            instances = [played.episode.setup.instance.id for (_, played), _ in given]
            values = [value for _, value in given]
            ours = pooled(values, instances, ends_of(metric))
        elif there:
            note = "the episodes give no figure: censored, forfeited or not asked"
        cut = sum(p.episode.payoffs is None for (_, p), value in found if value is None)
        return Found(ours, note, False, cut, sum(self._forfeits(p) for _, p in there))

    def _forfeits(self, played: Played) -> int:
        mine = (e for e in played.episode.events if isinstance(e, Forfeited))
        return sum(event.seat == self._how.seat for event in mine)

    def _value(self, played: Played, metric: str) -> float | None:
        key = (played.episode.id, metric)
        if key not in self._measured:
            measure = shelf.pick("metric", metric, shelf.shelf("metrics")).measure
            self._measured[key] = measure(played, self._how.seat)
        return self._measured[key]

    def _meets(self, facts: Conditions, asked: Conditions) -> bool:
        for name, value in asked.items():
            if value == TOTAL:
                continue
            if name == self._how.who and not same_model(str(facts.get(name)), str(value)):
                return False
            if name != self._how.who and facts.get(name) != value:
                return False
        return True

    def _mixed(self, there: Known) -> str:
        """What the episodes of a cell differ in although nothing says that they may."""
        names = {name for facts, _ in there for name in facts} - self._how.pools - {self._how.who}
        apart = []
        for name in sorted(names):
            values = list(dict.fromkeys(str(facts.get(name)) for facts, _ in there))
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


def short(model: str) -> str:
    """A model without its provider, as tables name it: `openai/gpt-4o` is gpt-4o."""
    return model.rpartition("/")[2].casefold()


def same_model(stored: str, asked: str) -> bool:
    """Whether an episode's model is the one asked for, by its whole name or its short one."""
    return asked in (stored, short(stored))


def pooled(
    values: Sequence[float],
    together: Sequence[str],
    ends: Bounds | None = None,
    people: bool = False,
) -> Estimate:
    """A mean with its 95% interval by our one rule (`sally.stats.rule`).

    Episodes of one instance hang together, so instances count and not their repeats; where there
    are too few instances, each repeat does; people always count as people.
    """
    unit = PEOPLE if people else "instances"
    units: dict[str, Sequence[Any]] = {unit: together, "episodes": range(len(values))}
    return mean_by_rule(values, units[coarsest(units)], ends)
