"""The episodes of a store as a paper's tables see them: what each is, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from sally.core import shelf
from sally.core.errors import BadInput, listed
from sally.core.game import Seat
from sally.core.log import Episode
from sally.core.metric import Played
from sally.core.playback import replayed
from sally.stats.intervals import (
    Estimate,
    clustered_mean_interval,
    mean_interval,
    share_interval,
)
from sally.studies.reference import Condition

TOTAL = "total"  # a row's condition that every episode meets: the table's own total
SEED = 1  # of the bootstrap: the same store gives the same interval
Conditions = Mapping[str, Condition]
Known = Sequence[tuple[Conditions, Played]]  # stored episodes with what they are


class Found(msgspec.Struct, frozen=True):
    """What the stored episodes say of one cell."""

    ours: Estimate | None = None
    note: str | None = None  # what a reader has to know of it


@dataclass(frozen=True)
class Matching:
    """How episodes are told apart for one paper."""

    facts: Callable[[Played], Conditions | None]  # what an episode is; None: not the paper's
    completes: Callable[[Conditions], Conditions]  # what a row leaves unsaid, as the study has it
    seat: Seat  # whose figures they are
    who: str = "model"  # the condition that names the model
    pools: frozenset[str] = frozenset()  # facts that may differ within a cell


class Stored:
    """Stored episodes by what they are, measured when a row asks for them."""

    def __init__(self, how: Matching, episodes: Iterable[Episode], model: str | None) -> None:
        self._how, self._model = how, model
        self.known: list[tuple[Conditions, Played]] = []
        self._measured: dict[tuple[str, str], float | None] = {}
        for episode in episodes:
            spec = shelf.game(episode.setup.instance.game)
            played = Played(spec, episode, replayed(spec, episode))
            if (facts := how.facts(played)) is not None:
                self.known.append((facts, played))
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
        values: list[float] = []
        instances: list[str] = []
        for _, played in there:
            value = self._value(played, metric)
            if value is not None:
                values.append(value)
                instances.append(played.episode.setup.instance.id)
        note = _left_out(len(there) - len(values), len(there))
        return Found(pooled(values, instances) if values else None, note)

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
                        f"in the tables; say which is meant with --model {other}."
                    )


def short(model: str) -> str:
    """A model without its provider, as tables name it: `openai/gpt-4o` is gpt-4o."""
    return model.rpartition("/")[2].casefold()


def same_model(stored: str, asked: str) -> bool:
    """Whether an episode's model is the one asked for, by its whole name or its short one."""
    return asked in (stored, short(stored))


def pooled(values: Sequence[float], instances: Sequence[str]) -> Estimate:
    """A mean with its 95% interval.

    Episodes of one instance hang together, so where instances were played again whole instances
    are drawn anew. Ones and zeros that are all alike know no spread: their interval is Wilson's,
    an instance counting once.
    """
    different = len(set(instances))
    if set(values) in ({0.0}, {1.0}) and len(values) > 1:
        once = different if different > 1 else len(values)
        found = share_interval(once if values[0] else 0, once)
        return msgspec.structs.replace(found, n=len(values))
    if 1 < different < len(values):
        return clustered_mean_interval(values, instances, seed=SEED)
    return mean_interval(values)


def _left_out(missing: int, there: int) -> str | None:
    """What a reader must know about episodes that give no figure."""
    if not missing:
        return None
    return f"{missing} of {there} episodes give no figure (censored, forfeited or not asked)"
