"""Bounds of a mean, from its metric, its unit and the payoffs that are possible in the game.

No interval extends beyond these bounds (`sally.stats.cluster_interval`). They are unrelated to the
score for doing, which is 0 for a random player and 1 for the optimum or a reference player
(`sally.analysis.profile.doing_scale`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import inf
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from sally.core.log.events import Instance
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.metric import Metric
from sally.stats.cluster_interval import Bounds, Unit, mean_by_rule
from sally.stats.intervals import Estimate

PAID = ("payoff", "reward")  # the column of a row, and the metric
COUNTS = ("turns", "moves", "forfeited", "retried", "calls", "input_tokens", "output_tokens",
          "seconds")  # fmt: skip


def find_metric(name: str, game: str = "") -> Metric | None:
    """Return a metric of a game, or of any game; without a game, all games have to be loaded."""
    if not game:
        metric: Metric | None = registry.entries("metrics").get(name)
        return metric
    spec = registry.game(game)
    return registry.metrics(spec.family or spec.name).get(name)


def metric_bounds(metric: str, game: str = "") -> Bounds | None:
    """Return bounds that hold whatever the parameters of a game, for a metric or for a count such
    as the number of forfeits."""
    declared = find_metric(metric, game)
    return declared.ends if declared is not None else (0.0, inf) if metric in COUNTS else None


def game_bounds(metric: str, spec: GameSpec, game: Any, seat: Seat) -> Bounds | None:
    """Return the bounds of a metric for one seat of a game with these parameters."""
    if metric in PAID:
        return None if spec.measured.pays is None else spec.measured.pays(game, seat)
    declared = registry.metrics(spec.family or spec.name).get(metric)
    if declared is not None and declared.within is not None:
        return declared.within(game, seat)
    ends, within = metric_bounds(metric, spec.name), spec.measured.doing.range
    if within is None or metric not in (spec.measured.doing.of(seat), spec.measured.doing.regret):
        return ends
    low, high = within(game, seat)
    if metric == spec.measured.doing.regret:  # the difference of two scores
        low, high = low - high, high - low
    return (low, high) if ends is None else (max(low, ends[0]), min(high, ends[1]))


def by_game(spec: GameSpec, seat: Seat) -> tuple[str, ...]:
    """Return the metrics for which a game declares tighter bounds than the metric's unit
    implies."""
    paid = PAID if spec.measured.pays is not None else ()
    doing = spec.measured.doing
    done = (doing.of(seat), doing.regret) if doing.range is not None else ()
    metrics = registry.metrics(spec.family or spec.name).values()
    bounded = (metric.name for metric in metrics if metric.within is not None)
    return tuple(name for name in (*paid, *done, *bounded) if name)


def key_of(instance: Instance) -> bytes:
    """Return a game and its parameters as a canonical key."""
    return msgspec.json.encode((instance.game, instance.params), order="sorted")


@lru_cache(maxsize=4096)
def instance_bounds(metric: str, instance: bytes, seat: str) -> Bounds | None:
    """Return the bounds of a metric for a seat of an instance, given in the encoding of
    `key_of`."""
    name, params = msgspec.json.decode(instance)
    spec = registry.game(name)
    if metric not in by_game(spec, Seat(seat)):
        return metric_bounds(metric, name)
    return game_bounds(metric, spec, spec.build(params), Seat(seat))


def enclosing(ends: Iterable[Bounds | None]) -> Bounds | None:
    """Return the bounds that enclose all given bounds; None if any of these is None."""
    distinct = set(ends)
    if not distinct or None in distinct:
        return None
    finite = [bound for bound in distinct if bound is not None]
    return min(low for low, _ in finite), max(high for _, high in finite)


def mean_within(
    metric: str, values: ArrayLike, clusters: Unit, ends: Bounds | None, game: str = ""
) -> Estimate:
    """Return a mean with its clustered interval within the bounds of its metric.

    If all values are equal and at a bound, a share of successes still gets a Wilson interval. A
    loss is not a share: if all its values are equal, for example 0, the interval consists of that
    value alone.
    """
    column = np.asarray(values, float)
    steady = column.size > 0 and column.min() == column.max()
    return mean_by_rule(column, clusters, None if steady and is_loss(metric, game) else ends)


def is_loss(metric: str, game: str = "") -> bool:
    """Return whether a metric is a loss of payoff."""
    declared = find_metric(metric, game)
    if declared is None or declared.better != "lower":
        return False
    return declared.unit.startswith(("payoff", "points", "cards per"))
