"""The episodes of a frame that belong to a paper: their conditions, and means for its tables.

Metrics come from the frame; an episode is read and replayed only when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

import msgspec
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sally.analysis.bounds import metric_bounds
from sally.analysis.compare.published_figures import Condition
from sally.core.errors import BadInput, join_names
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.core.rules.replay import Trajectory
from sally.frames.clusters import table_clusters
from sally.frames.frame import Frame
from sally.frames.replays import replay_for_measures
from sally.stats.cluster_interval import Bounds, Unit, mean_by_rule
from sally.stats.columns import as_met, encode_labels
from sally.stats.intervals import Estimate

PAYOFF, FORFEITED = "payoff", "forfeited"  # columns that every seat has
TOTAL = "total"  # a condition that every episode meets: the table's own total
Conditions = Mapping[str, Condition]
Known = Sequence[tuple[Conditions, Played]]  # stored episodes with their conditions
Uneven = Callable[[Conditions, Sequence[Conditions]], str | None]  # (row, conditions of episodes)
Floats = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]
HELD = 20_000  # replayed episodes kept in memory; further ones are read again each time
Facts = Callable[[Played], Conditions | None]


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
    model_condition: str = "model"  # the condition that names the model
    pools: frozenset[str] = frozenset()  # conditions that may differ within a cell
    uneven: Uneven | None = None  # why a mean over these episodes is unbalanced


class PaperEpisodes(Sequence[tuple[Conditions, Played]]):
    """A paper's episodes in the order of their store, with columns of conditions and metrics.

    If an episode's conditions follow from its setup (`of_setup`), one episode of each setup is
    read; otherwise every episode is replayed once.

    Attributes:
        many: Number of all episodes of the frame.
        facts: The distinct conditions.
        which: By episode, the index into `facts`.
        instances: By episode, the code of its instance.
    """

    def __init__(self, frame: Frame, facts: Facts, seat: Seat, of_setup: bool = False) -> None:
        self.many, self._seat = len(frame), seat
        self.facts: list[Conditions] = []
        codes = self._codes(frame, facts, of_setup)
        rows = np.flatnonzero(codes >= 0)
        self._frame, self.which = frame.take(rows), codes[rows]
        instances = self._frame.episodes["instance"].to_physical().to_numpy()
        self.instances = encode_labels(instances, len(rows), "instances")[0]
        self._numbers: dict[str, Floats] = {}  # many figures of a table read the same metric
        self._replays: dict[int, Played] = {}
        self._again = lru_cache(maxsize=256)(self._replay)

    def _codes(self, frame: Frame, facts: Facts, of_setup: bool) -> Codes:
        """Return, for each episode, the code of its conditions; -1 if it is not the paper's."""
        codes: dict[bytes, int] = {}

        def code(number: int) -> int:
            conditions = facts(replay_for_measures(frame.episode(number)))
            if conditions is None:
                return -1
            key = msgspec.msgpack.encode(conditions)
            if key not in codes:
                codes[key] = len(codes)
                self.facts.append(dict(conditions))
            return codes[key]

        if not of_setup:
            return np.array([code(number) for number in range(len(frame))], dtype=np.int64)
        setups = frame.episodes.select("cell", "setup").with_columns(frame.column("used"))
        numbered = setups.with_row_index("number")
        kinds = numbered.unique(["cell", "setup", "used"], keep="first", maintain_order=True)
        kinds = kinds.with_columns(
            pl.Series("code", [code(number) for number in kinds["number"]], dtype=pl.Int64)
        ).drop("number")
        joined = setups.join(kinds, on=["cell", "setup", "used"], how="left", maintain_order="left")
        return joined["code"].to_numpy()

    def numbers(self, metric: str) -> Floats:
        """Return the value of a metric for the seat that the paper evaluates, episode by episode;
        NaN where there is no value."""
        if metric not in self._numbers:
            rows = self._frame.seats("number", "seat", metric).filter(pl.col("seat") == self._seat)
            values = np.full(len(self), np.nan)
            values[rows["number"].to_numpy()] = rows[metric].cast(pl.Float64).to_numpy()
            self._numbers[metric] = values
        return self._numbers[metric]

    def prepare(self, metrics: Sequence[str]) -> None:
        """Measure all of these metrics at once."""
        self._frame.prepare(metrics)

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, index: int) -> tuple[Conditions, Played]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Conditions, Played]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[n] for n in range(len(self))[index]]
        number = range(len(self))[index]
        if len(self) > HELD:
            return self.facts[self.which[number]], LazyEpisode(lambda: self._open(number))
        return self.facts[self.which[number]], self._open(number)

    def select(self, test: Callable[[Conditions], bool]) -> Known:
        """Return the episodes whose conditions pass a test."""
        fitting = [n for n, facts in enumerate(self.facts) if test(facts)]
        return [self[n] for n in np.flatnonzero(np.isin(self.which, fitting)).tolist()]

    def _open(self, number: int) -> Played:
        if (replay := self._replays.get(number)) is not None:
            return replay
        if len(self._replays) >= HELD:
            return self._again(number)
        self._replays[number] = replay = self._replay(number)
        return replay

    def _replay(self, number: int) -> Played:
        return replay_for_measures(self._frame.episode(number))


def select_episodes(episodes: Known, test: Callable[[Conditions], bool]) -> Known:
    """Return the episodes whose conditions pass a test, without reading the others."""
    if isinstance(episodes, PaperEpisodes):
        return episodes.select(test)
    return [pair for pair in episodes if test(pair[0])]


class LazyEpisode(Played):
    """An episode that is read and replayed again whenever it is used."""

    _again: Callable[[], Played]

    def __init__(self, replay: Callable[[], Played]) -> None:
        object.__setattr__(self, "_again", replay)

    @property
    def spec(self) -> Any:
        return self._again().spec

    @property
    def episode(self) -> Episode:
        return self._again().episode

    @property
    def replay(self) -> Trajectory:
        return self._again().replay

    @property
    def known(self) -> dict[Any, Any]:
        return self._again().known


# --- means of a table's rows ----------------------------------------------------------------------


class TableMatcher:
    """The episodes of a paper, matched to the rows of its tables."""

    def __init__(self, matching: Matching, episodes: PaperEpisodes, model: str | None) -> None:
        self._how, self._model = matching, model
        self.known = episodes
        self._refuse_two_of_a_name()

    @property
    def models(self) -> list[str]:
        """The models that played, in order of appearance."""
        codes = as_they_appear(self.known.which)
        conditions = (self.known.facts[n] for n in codes)
        return list(
            dict.fromkeys(
                str(f[self._how.model_condition])
                for f in conditions
                if self._how.model_condition in f
            )
        )

    def meeting(self, row: Conditions) -> Codes:
        """Return the indices of the episodes that meet every condition of a table row."""
        conditions = dict(self._how.completes(row))
        if self._model is not None and self._how.model_condition in row:
            conditions[self._how.model_condition] = self._model
        fitting = [n for n, facts in enumerate(self.known.facts) if self._meets(facts, conditions)]
        return np.flatnonzero(np.isin(self.known.which, fitting))

    def measure_row(self, row: Conditions, metric: str) -> TableFigure:
        """Return the mean of one of our metrics over the episodes of a table row."""
        registry.pick("metric", metric, registry.entries("metrics"))
        episodes, rows = self.known, self.meeting(row)
        facts = [episodes.facts[n] for n in as_they_appear(episodes.which[rows])]
        if mixed := self._varying_conditions(facts):
            return TableFigure(None, f"not pooled: episodes differ in {mixed}")
        values = episodes.numbers(metric)[rows]
        has_value = ~np.isnan(values)
        ours, note = None, None
        if has_value.any():
            uneven, codes = self._how.uneven, episodes.which[rows[has_value]].tolist()
            note = uneven(row, [episodes.facts[n] for n in codes]) if uneven is not None else None
            instances = as_met(episodes.instances[rows[has_value]])
            strata = self._strata(codes)
            ours = pool_mean(values[has_value], instances, metric_bounds(metric), strata=strata)
        elif len(rows):
            note = "the episodes give no figure: censored, forfeited or not asked"
        cut = np.isnan(episodes.numbers(PAYOFF)[rows]) & ~has_value
        forfeited = episodes.numbers(FORFEITED)[rows]
        return TableFigure(ours, note, False, int(cut.sum()), int(np.nansum(forfeited)))

    def _strata(self, codes: Sequence[int]) -> Unit:
        """Return the stratum of each episode.

        A stratum is a combination of values of the conditions over which a table cell averages.
        """
        names = sorted(self._how.pools)
        facts = {n: tuple(self.known.facts[n].get(name) for name in names) for n in set(codes)}
        return encode_labels([facts[n] for n in codes], len(codes), "strata")[0]

    def _meets(self, facts: Conditions, conditions: Conditions) -> bool:
        for name, value in conditions.items():
            if value == TOTAL:
                continue
            if name == self._how.model_condition and not same_model(
                str(facts.get(name)), str(value)
            ):
                return False
            if name != self._how.model_condition and facts.get(name) != value:
                return False
        return True

    def _varying_conditions(self, episode_facts: Sequence[Conditions]) -> str:
        """Return the conditions that vary within a table cell although the table does not average
        over them."""
        names = (
            {name for facts in episode_facts for name in facts}
            - self._how.pools
            - {self._how.model_condition}
        )
        varying = []
        for name in sorted(names):
            values = list(dict.fromkeys(str(facts.get(name)) for facts in episode_facts))
            if len(values) > 1:
                varying.append(f"{name} ({join_names(values)})")
        return join_names(varying) if varying else ""

    def _refuse_two_of_a_name(self) -> None:
        """Raise BadInput if two models of the store share the short name used in tables."""
        by_short_name: dict[str, str] = {}
        for model in self.models:
            if self._model in (None, short(model)):
                namesake = by_short_name.setdefault(short(model), model)
                if namesake != model:
                    raise BadInput(
                        f"The store holds episodes of {namesake} and of {model}, which have the "
                        f"same "
                        f"name in the tables; name the model in full, such as {namesake}."
                    )


def as_they_appear(codes: Codes) -> list[int]:
    """Return the distinct codes in order of appearance."""
    distinct, first = np.unique(codes, return_index=True)
    ordered: list[int] = distinct[np.argsort(first)].tolist()
    return ordered


def short(model: str) -> str:
    """Return a model's name without its provider, in lower case: `openai/gpt-4o` is gpt-4o."""
    return model.rpartition("/")[2].casefold()


def same_model(stored: str, name: str) -> bool:
    """Return whether a stored model matches a name, which may be the full or the short name."""
    return name in (stored, short(stored))


def pool_mean(
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
    column = np.asarray(values, dtype=np.float64)
    clusters = table_clusters(together, range(len(column)), people)
    has_strata = strata is not None and len(np.unique(np.asarray(strata))) > 1
    return mean_by_rule(column, clusters, ends, strata if has_strata else None)
