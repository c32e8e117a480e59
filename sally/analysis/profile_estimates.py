"""Means and ratios over episodes, with intervals that know which episodes belong together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from sally.analysis.measured import Measured
from sally.core.log import Setup
from sally.stats import (
    Estimate,
    clustered_mean_interval,
    clustered_ratio_interval,
    share_interval,
)
from sally.stats.intervals import FEW, without_interval

RESAMPLES = 2000

Unit = Callable[[Measured], Hashable]
UNITS: Mapping[str, Unit] = {
    "participants": lambda m: person_of(m.setup, m.seat),
    "instances": lambda m: m.setup.instance.id,
    "repeats of instances": lambda m: (m.setup.instance.id, m.setup.repeat),
    "episodes": lambda m: m.episode,
}


def person_of(setup: Setup, seat: str) -> str:
    """Whose play it is, where a person played; empty for everybody else."""
    who = setup.lineup[seat]
    if who.player == "recorded":  # an imported instance is named by file, line and place in it
        if who.params.get("name") != "human":
            return ""
        named = str(who.params.get("participant", ""))
        return named or setup.instance.id.rpartition(":")[0]
    return str(who.params.get("participant", ""))


def clusters_of(group: Sequence[Measured]) -> tuple[Unit, str]:
    """The coarsest unit of which there are enough to resample: people first, then instances."""
    for name, unit in UNITS.items():
        found = {unit(m) for m in group}
        if name == "participants" and "" in found:
            continue
        if len(found) >= FEW:
            return unit, name
    return UNITS["episodes"], "episodes"


class Boot:
    """Means and ratios over the episodes of a row, with clustered bootstrap intervals."""

    def __init__(self, group: Sequence[Measured], unit: Unit, seed: int) -> None:
        self.group, self.unit, self.seed = group, unit, seed

    def ratio(
        self,
        above: Callable[[Measured], float],
        below: Callable[[Measured], float],
        most: float | None = None,
    ) -> Estimate:
        there = [m for m in self.group if below(m)]
        if not there:
            return without_interval(None, 0, "clustered bootstrap", "no values")
        units = [self.unit(m) for m in there]
        found = clustered_ratio_interval(
            [above(m) for m in there],
            [below(m) for m in there],
            units,
            seed=self.seed,
            resamples=RESAMPLES,
            method="expanded",
        )
        return judged(found, most, len(set(units)))

    def mean(
        self, value: Callable[[Measured], float | None], most: float | None = None
    ) -> Estimate:
        there = [(m, v) for m in self.group if (v := value(m)) is not None]
        if not there:
            return without_interval(None, 0, "clustered bootstrap", "no values")
        units = [self.unit(m) for m, _ in there]
        found = clustered_mean_interval(
            [v for _, v in there],
            units,
            seed=self.seed,
            resamples=RESAMPLES,
            method="expanded",
        )
        return judged(found, most, len(set(units)))


def judged(found: Estimate, most: float | None, clusters: int) -> Estimate:
    """The estimate with an interval that can be believed, or with none."""
    if clusters < FEW:  # resampling a handful says little about what others would be like
        reason = f"fewer than {FEW} clusters"
        return without_interval(found.value, found.n, "clustered bootstrap", reason)
    return at_the_edge(found, most, clusters)


def at_the_edge(found: Estimate, most: float | None, clusters: int) -> Estimate:
    """All or nothing of what can be had: a bootstrap would be sure of it from two clusters on.

    Wilson's interval with a trial a cluster takes its place.
    """
    if most is None or found.value not in (0, most) or found.low != found.high:
        return found
    wilson = share_interval(clusters if found.value else 0, clusters)
    assert wilson.low is not None and wilson.high is not None  # there is a trial
    how = f"Wilson over {clusters} clusters"
    return Estimate(found.value, most * wilson.low, most * wilson.high, found.n, how)
