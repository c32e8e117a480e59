"""Clusters of rows that are not independent: participants, instances, repeats, episodes.

Episodes of one person, of one instance, or with the same random draws of one instance are alike.
Intervals use the coarsest of these units that has enough clusters; if people played, no finer unit
is used, however few they are. This is the only module that knows the order of the units.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sally.stats.cluster_interval import PEOPLE, Unit, coarsest
from sally.stats.columns import as_met
from sally.stats.intervals import FEW

INSTANCES, REPEATS, EPISODES = "instances", "repeats of instances", "episodes"
SETTINGS, PAIRS = "settings", "pairs"
FIELDS = ("person", "instance", "repeat")  # columns of seats by which rows are clustered


def clusters_of(rows: pl.DataFrame) -> tuple[Unit, str]:
    """Return the cluster of each row, and the name of the unit.

    Args:
        rows: Rows with the columns `person`, `instance` and `repeat`.
    """
    instances = _codes(rows["instance"])
    repeats = rows["repeat"].to_numpy()
    instance_repeats = instances * (int(repeats.max(initial=0)) + 1) + repeats
    units: dict[str, Unit] = {
        PEOPLE: [None] if rows["person"].null_count() else _codes(rows["person"]),
        INSTANCES: as_met(instances),
        REPEATS: as_met(instance_repeats),
        EPISODES: range(rows.height),
    }
    unit = coarsest(units)
    return units[unit], unit


def table_clusters(together: Unit, episodes: Unit, people: bool = False) -> Unit:
    """Return the clusters of a table cell whose rows belong to one person or one instance each; too
    few instances leave the episodes."""
    units: dict[str, Unit] = {PEOPLE if people else INSTANCES: together, EPISODES: episodes}
    return units[coarsest(units)]


def _codes(series: pl.Series) -> NDArray[np.int64]:
    return series.to_physical().to_numpy().astype(np.int64)


class Comparable(Protocol):
    """A score that may be compared with another."""

    @property
    def person(self) -> str: ...
    @property
    def instance(self) -> str: ...
    @property
    def repeat(self) -> int: ...


class Pair(Comparable, Protocol):
    """Two scores in one setting."""

    @property
    def setting(self) -> bytes: ...
    @property
    def strategy(self) -> str: ...


def _units(scores: Sequence[Comparable]) -> dict[str, list[Hashable]]:
    return {
        PEOPLE: [score.person for score in scores],
        INSTANCES: [score.instance for score in scores],
        REPEATS: [(score.instance, score.repeat) for score in scores],
    }


def side_clusters(scores: Sequence[Comparable]) -> tuple[list[Hashable], str]:
    """Return the clusters of one side of an unpaired comparison."""
    units = _units(scores)
    unit = coarsest(units)
    return units[unit], unit


def pair_clusters(pairs: Sequence[Pair]) -> tuple[list[Hashable], str]:
    """Return the clusters of pairs, by the coarsest unit with enough clusters to resample.

    Repeats are preferred to pairs, because all lineups share the seed of a repeat.
    """
    units = _units(pairs)
    people, settings = len(set(units[PEOPLE])), len({pair.setting for pair in pairs})
    if all(units[PEOPLE]) and settings < people:
        # The people of one setting are compared with the same episodes of the other player.
        return [pair.setting for pair in pairs], SETTINGS
    for unit, clusters in units.items():
        if all(clusters) and len(set(clusters)) >= FEW:
            return clusters, unit
    if len({pair.strategy for pair in pairs}) > 1:  # strategies in one setting are not independent
        return [pair.setting for pair in pairs], SETTINGS
    return list(range(len(pairs))), PAIRS
