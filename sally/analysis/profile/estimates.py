"""Means and ratios over episodes, with intervals that know which episodes belong together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from sally.analysis.columns.measured import Measured
from sally.analysis.columns.measured_table import Codes, Floats, Table, table_of
from sally.core.log.events import Setup
from sally.stats import Estimate
from sally.stats.cluster_interval import PEOPLE, Bounds, ratio_by_rule
from sally.stats.columns import coded
from sally.stats.intervals import FEW

Clusters = Codes | range


def person_of(setup: Setup, seat: str) -> str:
    """Whose play it is, where a person played; empty for everybody else."""
    who = setup.lineup[seat]
    if who.player == "recorded":  # an imported instance is named by file, line and place in it
        if who.params.get("name") != "human":
            return ""
        named = str(who.params.get("participant", ""))
        return named or setup.instance.id.rpartition(":")[0]
    return str(who.params.get("participant", ""))


def clusters_of(group: Sequence[Measured]) -> tuple[Clusters, str]:
    """The coarsest unit of which there are enough, by row: people first, then instances."""
    table = table_of(group)
    kinds = table.kinds()
    people = {k: person_of(table.shared[k].setup, table.shared[k].seat) for k in kinds}
    if kinds and all(people.values()):
        return _coded(table, people), PEOPLE
    instances = _coded(table, {k: table.shared[k].setup.instance.id for k in kinds})
    if len(np.unique(instances)) >= FEW:
        return instances, "instances"
    again = instances * (int(table.repeat.max(initial=0)) + 1) + table.repeat
    if len(np.unique(again)) >= FEW:
        return again, "repeats of instances"
    return range(len(table)), "episodes"


def _coded(table: Table, names: Mapping[int, str]) -> Codes:
    """By row, the number of what its kind is called."""
    known: dict[str, int] = {}
    codes = np.zeros(len(table.shared), dtype=np.int64)
    for kind, name in names.items():
        codes[kind] = known.setdefault(name, len(known))
    found: Codes = codes[table.kind]
    return found


class Means:
    """Means and ratios over the rows of a table, with intervals by our one rule.

    Columns are arrays in which a missing number is not a number.
    """

    def __init__(self, group: Sequence[Measured], clusters: Sequence[Hashable] | Codes) -> None:
        self.group = table_of(group)
        self._clusters: Clusters
        if isinstance(clusters, np.ndarray | range):
            self._clusters = clusters
        else:
            self._clusters = coded(clusters, len(self.group), "clusters")[0]

    def ratio(self, above: Floats, below: Floats, bounds: Bounds | None = None) -> Estimate:
        """A ratio of sums, over the rows in which both are known."""
        there = ~(np.isnan(above) | np.isnan(below))
        tops, bottoms = above[there], below[there]
        if isinstance(self._clusters, range):
            return ratio_by_rule(tops, bottoms, range(len(tops)), bounds)
        return ratio_by_rule(tops, bottoms, self._clusters[there], bounds)

    def share(self, above: Floats, below: Floats, most: float = 1.0) -> Estimate:
        """A ratio between 0 and `most`, over the rows that have something to count."""
        return self.ratio(above, or_missing(below), (0.0, most))

    def mean(self, value: Floats, bounds: Bounds | None = None) -> Estimate:
        """A mean over the rows in which the value is known."""
        return self.ratio(value, np.ones(len(value)), bounds)


def or_missing(column: Floats) -> Floats:
    """The column with what is 0 not known."""
    return np.where(column == 0, np.nan, column)


def total(column: Floats) -> float:
    """The sum of a column, one after another as a loop would have it."""
    return float(sum(column.tolist()))
