"""Means and ratios over measured seats, with intervals over clusters."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sally.frames.clusters import clusters_of
from sally.frames.profiles import Codes, Floats, SeatSums
from sally.stats.cluster_interval import Bounds, ratio_by_rule
from sally.stats.intervals import Estimate


class Means:
    """Means and ratios over the rows of a table, with intervals by `sally.stats.cluster_interval`.

    Columns are arrays in which NaN marks a missing number.
    """

    def __init__(self, group: SeatSums, clusters: Codes | None = None) -> None:
        self.group = group
        unit, self.unit = (clusters, "") if clusters is not None else clusters_of(group.rows)
        self._clusters: Codes | range = unit if isinstance(unit, range) else np.asarray(unit)
        self.cluster_count = int(self.cluster_codes.max(initial=-1)) + 1

    @cached_property
    def cluster_codes(self) -> Codes:
        """The number of the cluster of each row, from 0."""
        if isinstance(self._clusters, range):  # each row is its own cluster
            return np.arange(len(self._clusters))
        codes: Codes = np.unique(self._clusters, return_inverse=True)[1]
        return codes

    def ratio(self, above: Floats, below: Floats, bounds: Bounds | None = None) -> Estimate:
        """Return the ratio of two sums over the rows in which both are known."""
        is_known = ~(np.isnan(above) | np.isnan(below))
        tops, bottoms = above[is_known], below[is_known]
        if isinstance(self._clusters, range):
            return ratio_by_rule(tops, bottoms, range(len(tops)), bounds)
        return ratio_by_rule(tops, bottoms, self._clusters[is_known], bounds)

    def share(self, above: Floats, below: Floats, largest: float = 1.0) -> Estimate:
        """Return the ratio of two sums over the rows whose denominator is not 0. The ratio is known
        to lie between 0 and `largest`, and its interval is kept within these bounds."""
        return self.ratio(above, or_missing(below), (0.0, largest))

    def mean(self, value: Floats, bounds: Bounds | None = None) -> Estimate:
        """Return the mean over the rows in which the value is known."""
        return self.ratio(value, np.ones(len(value)), bounds)


def or_missing(column: Floats) -> Floats:
    """Return the column with zeros replaced by NaN."""
    return np.where(column == 0, np.nan, column)


def total(column: Floats) -> float:
    """Return the sum of a column, added from left to right so that results stay reproducible."""
    return 0.0 + float(np.add.accumulate(column)[-1]) if len(column) else 0.0  # no -0.0
