"""Means and ratios over episodes, with intervals that know which episodes belong together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from sally.analysis.measured import Measured
from sally.core.log import Setup
from sally.stats import Estimate
from sally.stats.rule import Bounds, coarsest, ratio_by_rule

Of = Callable[[Measured], float | None]
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
    """The coarsest unit of which there are enough: people first, then instances."""
    name = coarsest({name: [unit(m) for m in group] for name, unit in UNITS.items()})
    return UNITS[name], name


class Means:
    """Means and ratios over the episodes of a row, with intervals by our one rule."""

    def __init__(self, group: Sequence[Measured], unit: Unit) -> None:
        self.group, self.unit = group, unit

    def ratio(self, above: Of, below: Of, bounds: Bounds | None = None) -> Estimate:
        """A ratio of sums, over the episodes in which both are known."""
        there = [
            (m, up, down)
            for m in self.group
            if (up := above(m)) is not None and (down := below(m)) is not None
        ]
        tops, bottoms = [up for _, up, _ in there], [down for _, _, down in there]
        return ratio_by_rule(tops, bottoms, [self.unit(m) for m, _, _ in there], bounds)

    def share(self, above: Of, below: Of, most: float = 1.0) -> Estimate:
        """A ratio between 0 and `most`, over the episodes that have something to count."""
        return self.ratio(above, lambda m: below(m) or None, (0.0, most))

    def mean(self, value: Of, bounds: Bounds | None = None) -> Estimate:
        """A mean over the episodes in which the value is known."""
        return self.ratio(value, lambda m: None if value(m) is None else 1.0, bounds)
