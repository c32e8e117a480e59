"""Means and ratios over episodes, with intervals clustered by participant or instance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from sally.analysis.columns.measured import MeasuredSeat
from sally.analysis.columns.measured_table import Codes, Floats, MeasuredTable, table_of
from sally.core.log.events import Setup
from sally.stats.cluster_interval import PEOPLE, Bounds, ratio_by_rule
from sally.stats.columns import coded
from sally.stats.intervals import FEW, Estimate

Clusters = Codes | range


def person_of(setup: Setup, seat: str) -> str:
    """Return the participant who played a seat, or "" if no person did."""
    who = setup.lineup[seat]
    if who.player == "recorded":  # an imported instance is named by file, line and position
        if who.params.get("name") != "human":
            return ""
        named = str(who.params.get("participant", ""))
        return named or setup.instance.id.rpartition(":")[0]
    return str(who.params.get("participant", ""))


def clusters_of(group: Sequence[MeasuredSeat]) -> tuple[Clusters, str]:
    """Return the cluster of each row, by the coarsest unit with enough clusters, and that unit."""
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


def _coded(table: MeasuredTable, names: Mapping[int, str]) -> Codes:
    """Return an integer code for each row; rows whose kinds have the same name share a code."""
    known: dict[str, int] = {}
    codes = np.zeros(len(table.shared), dtype=np.int64)
    for kind, name in names.items():
        codes[kind] = known.setdefault(name, len(known))
    found: Codes = codes[table.kind]
    return found


class Means:
    """Means and ratios over the rows of a table, with intervals by `sally.stats.cluster_interval`.

    Columns are arrays in which NaN marks a missing number.
    """

    def __init__(self, group: Sequence[MeasuredSeat], clusters: Sequence[Hashable] | Codes) -> None:
        self.group = table_of(group)
        self._clusters: Clusters
        if isinstance(clusters, np.ndarray | range):
            self._clusters = clusters
        else:
            self._clusters = coded(clusters, len(self.group), "clusters")[0]

    def ratio(self, above: Floats, below: Floats, bounds: Bounds | None = None) -> Estimate:
        """Return the ratio of two sums over the rows in which both are known."""
        there = ~(np.isnan(above) | np.isnan(below))
        tops, bottoms = above[there], below[there]
        if isinstance(self._clusters, range):
            return ratio_by_rule(tops, bottoms, range(len(tops)), bounds)
        return ratio_by_rule(tops, bottoms, self._clusters[there], bounds)

    def share(self, above: Floats, below: Floats, most: float = 1.0) -> Estimate:
        """Return the ratio of two sums over the rows whose denominator is not 0. The ratio is known
        to lie between 0 and `most`, and its interval is kept within these bounds."""
        return self.ratio(above, or_missing(below), (0.0, most))

    def mean(self, value: Floats, bounds: Bounds | None = None) -> Estimate:
        """Return the mean over the rows in which the value is known."""
        return self.ratio(value, np.ones(len(value)), bounds)


def or_missing(column: Floats) -> Floats:
    """Return the column with zeros replaced by NaN."""
    return np.where(column == 0, np.nan, column)


def total(column: Floats) -> float:
    """Return the sum of a column, added from left to right so that results stay reproducible."""
    return float(sum(column.tolist()))
