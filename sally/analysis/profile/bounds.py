"""Within what a mean lies: by the metric, by its unit, and by what the game at hand can pay.

No interval leaves these bounds (`sally.stats.cluster_interval`). They are not the scale of doing,
which has its own declared zero and one (`sally.analysis.profile.doing_scale`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from sally.stats import Estimate
from sally.stats.cluster_interval import Bounds, Unit, mean_by_rule

PAID = ("payoff", "reward")  # the column of a row, and the metric
COUNTS = ("turns", "moves", "forfeited", "retried", "calls", "input_tokens", "output_tokens",
          "seconds")  # fmt: skip


def ends_of(metric: str) -> Bounds | None:
    """The least and the most that a metric, or a count of a row, can be in any game."""
    known: Metric | None = registry.entries("metrics").get(metric)
    return known.ends if known is not None else (0.0, inf) if metric in COUNTS else None


def ends_in(metric: str, spec: GameSpec[Any, Any, Any], game: Any, seat: Seat) -> Bounds | None:
    """The least and the most that a metric can be for a seat of this very game."""
    if metric in PAID:
        return None if spec.pays is None else spec.pays(game, seat)
    known: Metric | None = registry.entries("metrics").get(metric)
    if known is not None and known.within is not None:
        return known.within(game, seat)
    ends, within = ends_of(metric), spec.doing.range
    if within is None or metric not in (spec.doing.of(seat), spec.doing.regret):
        return ends
    low, high = within(game, seat)
    if metric == spec.doing.regret:  # one play less another
        low, high = low - high, high - low
    return (low, high) if ends is None else (max(low, ends[0]), min(high, ends[1]))


def by_game(spec: GameSpec[Any, Any, Any], seat: Seat) -> tuple[str, ...]:
    """The metrics of which a game knows more than their unit says."""
    paid = PAID if spec.pays is not None else ()
    done = (spec.doing.of(seat), spec.doing.regret) if spec.doing.range is not None else ()
    known = registry.metrics(spec.family or spec.name).values()
    own = (metric.name for metric in known if metric.within is not None)
    return tuple(name for name in (*paid, *done, *own) if name)


def row_ends(spec: GameSpec[Any, Any, Any], game: Any, seat: Seat) -> dict[str, Bounds | None]:
    """By metric, what the game at hand says of its ends."""
    return {name: ends_in(name, spec, game, seat) for name in by_game(spec, seat)}


def key_of(instance: Instance) -> bytes:
    """A game and its parameters, the same for the same."""
    return msgspec.json.encode((instance.game, instance.params), order="sorted")


@lru_cache(maxsize=4096)
def instance_ends(metric: str, instance: bytes, seat: str) -> Bounds | None:
    """The ends of a metric for a seat of the game under a key."""
    name, params = msgspec.json.decode(instance)
    spec = registry.game(name)
    if metric not in by_game(spec, Seat(seat)):
        return ends_of(metric)
    return ends_in(metric, spec, spec.build(params), Seat(seat))


def widest(ends: Iterable[Bounds | None]) -> Bounds | None:
    """What holds all of these; None if one of them has no ends."""
    found = set(ends)
    if not found or None in found:
        return None
    known = [each for each in found if each is not None]
    return min(low for low, _ in known), max(high for _, high in known)


def ends_over(metric: str, rows: Iterable[Mapping[str, Any]]) -> Bounds | None:
    """The ends of a metric over rows of episodes, each with what its game says."""
    general = ends_of(metric)
    return widest(row.get("ends", {}).get(metric, general) for row in rows)


def mean_within(metric: str, values: ArrayLike, clusters: Unit, ends: Bounds | None) -> Estimate:
    """A mean by the rule within the ends of its metric.

    Wilson's doubt about all or nothing is one about shares and wins. What was lost is no share: a
    loss that is the same in every cluster, such as none, is that loss.
    """
    column = np.asarray(values, float)
    steady = column.size > 0 and column.min() == column.max()
    return mean_by_rule(column, clusters, None if steady and is_loss(metric) else ends)


def is_loss(metric: str) -> bool:
    """Whether a metric is what was lost of a payoff."""
    known: Metric | None = registry.entries("metrics").get(metric)
    if known is None or known.better != "lower":
        return False
    return known.unit.startswith(("payoff", "points", "cards per"))
