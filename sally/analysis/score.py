"""Means of metrics by player, with 95% intervals.

Cells and other players are pooled unless they are asked for. Without a named seat or player, only
studied seats are scored: those that were probed, or that a model or a person took.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally.analysis.bounds import COUNTS, PAID, enclosing, instance_bounds, key_of, mean_within
from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.frames import Row
from sally.frames.clusters import FIELDS, clusters_of
from sally.frames.frame import Frame
from sally.frames.rows import setup_of
from sally.stats.cluster_interval import Bounds
from sally.stats.intervals import Estimate

By = Literal["player", "model", "strategy", "others", "cell"]
KEYS = ("cell", "game", "seat", "player", "model", "strategy", "others")
VALUES = 4_000_000  # of metrics that are in memory at once
FIRST = {"tom_percent": 0, "payoff": 2, "forfeits": 3}  # knowing, doing, payoff, forfeits last


@dataclass(frozen=True)
class Query:
    """A selection of metrics, seats, players, cells and games; an empty field selects all.

    Names may contain `*`, which stands for anything; `model` names select their players.
    """

    metrics: Sequence[str] = ()  # empty: the headline ones and the payoff
    every: bool = False  # all that have a value
    games: Sequence[str] = ()
    cells: Sequence[str] = ()
    seats: Sequence[str] = ()
    players: Sequence[str] = ()


@dataclass(frozen=True)
class Scores:
    """Means with intervals, and what a reader should know about them."""

    rows: list[Row]
    keys: tuple[str, ...]  # columns that identify a row
    pooled: list[str]  # keys that differ within rows
    seats_left_out: list[str]  # seats without a studied player
    reasons: Mapping[str, int] = field(default_factory=Counter)  # why episodes have no result
    mixed: Sequence[str] = ()  # instances whose parameters changed between runs


def score(frame: Frame, query: Query = Query(), by: Sequence[By] = ()) -> Scores:  # noqa: B008
    """Return the mean of each metric for each game, seat and player, with its interval.

    Args:
        frame: The episodes.
        query: What is scored.
        by: Also divide by these; `model` and `strategy` replace the player.

    Raises:
        BadInput: If a metric, seat, player, cell or game is not among the episodes.
    """
    keys = _keys(by)
    rows = _identity(frame)
    metrics = _metrics(frame, query)
    chosen = _select(rows, query)
    studied = chosen if query.seats or query.players else _select_studied(chosen)
    return Scores(
        _means(frame, studied, metrics, keys),
        keys,
        [
            key
            for key in ("cell", "others", "strategy")
            if key not in keys and _varies(studied, key)
        ],
        sorted(set(chosen["seat"].unique()) - set(studied["seat"].unique())),
        Counter(frame.episodes.filter(pl.col("why") != "")["why"].to_list()),
        mixed_instances(frame),
    )


def _identity(frame: Frame) -> pl.DataFrame:
    fields = ("cell", "game", "seat", "player", "name", "strategy", "others", "studied", "why",
              "setup", *FIELDS)  # fmt: skip
    rows = frame.seats(*fields).rename({"name": "model"})
    empty = pl.lit("", dtype=pl.Categorical)
    return rows.with_columns(pl.col("strategy").fill_null(empty)).with_row_index("at")


def _keys(by: Sequence[By]) -> tuple[str, ...]:
    for name in by:
        if name not in get_args(By):
            raise unknown("grouping", name, get_args(By))
    player = () if {"player", "model", "strategy"} & set(by) else ("player",)
    return tuple(key for key in KEYS if key in ("game", "seat", *player, *by))


def _metrics(frame: Frame, query: Query) -> list[str]:
    """Return the metrics to be scored, in the order in which they are shown."""
    fitting = frame.metrics()
    if not query.metrics:
        names = [name for name, metric in fitting.items() if query.every or metric.headline]
        return sorted([*names, "payoff"], key=lambda name: FIRST.get(name, 1))
    available = {*fitting, "payoff", *COUNTS}
    if elsewhere := [name for name in query.metrics if name not in available]:
        candidates = {*registry.entries("metrics"), *available}
        for name in elsewhere:
            if name not in candidates:
                raise unknown("metric", name, candidates)
    return [name for name in query.metrics if name in available]


# --- selection ------------------------------------------------------------------------------------


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern, in which only `*` is special."""
    if "*" not in pattern:
        return pattern == name
    plain = re.sub(r"([\[?])", r"[\1]", pattern)
    return re.match(translate(plain), name) is not None


def require_known(kind: str, names: Iterable[str], candidates: Collection[str]) -> None:
    """Raise BadInput if a name or pattern matches none of the known names."""
    for name in names:
        if not any(matches(name, candidate) for candidate in candidates):
            raise unknown(kind, name, candidates)


def _select(rows: pl.DataFrame, query: Query) -> pl.DataFrame:
    if rows.is_empty():
        return rows
    chosen = rows
    for key, patterns in (
        ("seat", query.seats),
        ("game", query.games),
        ("cell", query.cells),
        ("player", query.players),
    ):
        if patterns:
            fitting = _fitting(rows, key, patterns)
            chosen = chosen.filter(pl.col(key).cast(pl.String).is_in(list(fitting)))
    if chosen.is_empty():
        raise BadInput("No episode of this store matches all of these options together.")
    return chosen


def _fitting(rows: pl.DataFrame, key: str, patterns: Sequence[str]) -> set[str]:
    """Return the names that match a pattern; a model's name selects all of its players."""
    names = rows.select(pl.col(key), pl.col("model" if key == "player" else key).alias("short"))
    candidates = names.unique(maintain_order=True).rows()
    fitting = set[str]()
    for pattern in patterns:
        matching = {
            name for name, short in candidates if matches(pattern, name) or short == pattern
        }
        if not matching:
            raise unknown(key, pattern, {name for name, _ in candidates})
        fitting |= matching
    return fitting


def _select_studied(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of studied seats; if a game has no studied seats, all of its rows."""
    return rows.filter(pl.col("studied") | ~pl.col("studied").any().over("game"))


def _varies(rows: pl.DataFrame, key: str) -> bool:
    """Return whether a key has several values; cells with the name of their game do not count."""
    if key == "cell" and (rows["cell"].cast(pl.String) == rows["game"].cast(pl.String)).all():
        return False
    return rows[key].n_unique() > 1


# --- means ----------------------------------------------------------------------------------------


def means_by(
    frame: Frame, metric: str, keys: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], Estimate]]:
    """Yield the mean of a metric over all seats of each group that has a value."""
    for key, group in _groups(_identity(frame), keys):
        estimate = group.mean(metric, _values(frame, metric))
        if estimate.n:
            yield key, estimate


def _groups(rows: pl.DataFrame, keys: Sequence[str]) -> list[tuple[tuple[str, ...], Group]]:
    """Return the groups of rows with the same keys, in the order of the keys."""
    parts = rows.partition_by(keys, as_dict=True, maintain_order=True)
    groups = [(key, Group(part)) for key, part in parts.items()]
    return sorted(groups, key=lambda pair: [str(part) for part in pair[0]])


def _values(frame: Frame, metric: str) -> NDArray[np.float64]:
    return frame.seats(metric)[metric].cast(pl.Float64).to_numpy()


def _means(
    frame: Frame, rows: pl.DataFrame, metrics: Sequence[str], keys: Sequence[str]
) -> list[Row]:
    """Return one row for each metric and group that has a value.

    `results` is the number of episodes of the group with a result, `missing` the number without
    one. Payoffs are averaged over results only: a void episode pays 0 because nothing was played.
    """
    frame.prepare(metrics)
    groups, scores = _groups(rows, keys), list[Row]()
    at_once = max(1, VALUES // max(1, rows.height))
    for start in range(0, len(metrics), at_once):
        columns = frame.seats(*dict.fromkeys(metrics[start : start + at_once]))
        for metric in metrics[start : start + at_once]:
            values = columns[metric].cast(pl.Float64).to_numpy()
            for key, group in groups:
                estimate = group.mean(metric, values)
                if estimate.n:
                    head = dict(zip(keys, key, strict=True))
                    scores.append(head | group.counts | estimate_row(metric, estimate))
    return scores


class Group:
    """Rows of seats that are averaged together."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.at = rows["at"].to_numpy()
        self._has_result = rows["why"].eq("").to_numpy()
        results = int(self._has_result.sum())
        self.counts = {"results": results, "missing": rows.height - results}
        self._clusters = clusters_of(rows)[0]
        self._problems = problems_of(rows)

    def mean(self, metric: str, values: NDArray[np.float64]) -> Estimate:
        """Return the mean of a metric over the rows in which it has a value."""
        column = values[self.at]
        has_value = ~np.isnan(column)
        if metric in PAID:
            has_value &= self._has_result
        if has_value.all():
            rows, clusters, problems = self.rows, self._clusters, self._problems
        else:
            rows, column = self.rows.filter(has_value), column[has_value]
            clusters, problems = clusters_of(rows)[0], problems_of(rows)
        game = rows["game"][0] if rows.height else ""
        return mean_within(metric, column, clusters, bounds_of(metric, problems), game)


def bounds_of(metric: str, problems: Iterable[tuple[bytes, str]]) -> Bounds | None:
    """Return bounds of a metric that hold for all of these instances and seats."""
    return enclosing(instance_bounds(metric, problem, seat) for problem, seat in problems)


def problems_of(rows: pl.DataFrame) -> set[tuple[bytes, str]]:
    """Return the instances of rows, as keys, with the seats that were played in them."""
    return {
        (key_of(setup_of(setup).instance), seat)
        for setup, seat in rows.select("setup", "seat").unique().rows()
    }


def estimate_row(metric: str, estimate: Estimate) -> Row:
    """Return an estimate as columns; `method` describes the interval, or says why there is none."""
    return {
        "metric": metric,
        "value": estimate.value,
        "interval": estimate.interval,
        "episodes": estimate.n,
        "method": estimate.method,
    }


def mixed_instances(frame: Frame) -> list[str]:
    """Return the instances that occur in one cell with different parameters."""
    distinct = frame.episodes.select("cell", "instance", "setup").unique()
    problems = {
        (cell, id, key_of(setup_of(setup).instance))
        for cell, id, setup in distinct.rows()
        if setup is not None
    }
    counts = Counter((cell, id) for cell, id, _ in problems)
    return sorted({id for (_, id), n in counts.items() if n > 1})
