"""Bradley-Terry ratings from matched comparisons, with intervals and connected components.

A rating is a log odds: if two ratings differ by d, the higher rated player wins e^d times for each
loss against the other. Ties count half. Ratings of different components cannot be compared, because
their players never met.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.stats.intervals import Estimate

Floats = NDArray[np.float64]
PRIOR = 0.5  # wins and losses of each player against a player of rating 0, so that all are finite
ROUNDS, RESAMPLES, SEED = 200, 200, 1


class MatchedComparison(msgspec.Struct, frozen=True):
    """One matched comparison: 1 if the first did better, 0 if the second did, .5 for a tie."""

    first: str
    second: str
    won: float
    cluster: Hashable


class Rating(msgspec.Struct, frozen=True):
    """The rating of one player within its component, whose mean is 0."""

    player: str
    rating: Estimate
    component: int
    met: int  # comparisons


def ratings(comparisons: Sequence[MatchedComparison]) -> list[Rating]:
    """Return the rating of every player, the best first, by component.

    Intervals are 95% percentiles of a bootstrap over clusters.

    >>> one = [Met("a", "b", 1.0, n) for n in range(8)] + [Met("a", "b", 0.0, n) for n in range(2)]
    >>> [each.player for each in ratings(one)]
    ['a', 'b']
    """
    if not comparisons:
        return []
    names = sorted(
        {name for comparison in comparisons for name in (comparison.first, comparison.second)}
    )
    place = {name: n for n, name in enumerate(names)}
    pairs = np.array([(place[m.first], place[m.second]) for m in comparisons])
    won = np.array([m.won for m in comparisons], dtype=np.float64)
    group = components(len(names), pairs)
    value = _fit(len(names), pairs, won, group)
    clusters: dict[Hashable, list[int]] = {}
    for n, comparison in enumerate(comparisons):
        clusters.setdefault(comparison.cluster, []).append(n)
    listed = [np.array(rows) for rows in clusters.values()]
    rng = np.random.default_rng(SEED)
    resampled = np.array(
        [
            _fit(len(names), pairs[rows], won[rows], group)
            for rows in (
                np.concatenate([listed[k] for k in rng.integers(len(listed), size=len(listed))])
                for _ in range(RESAMPLES)
            )
        ]
    )
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    counts = np.bincount(pairs.ravel(), minlength=len(names))
    method = f"Bradley-Terry, bootstrap over {len(listed)} clusters"
    rated = [
        Rating(
            name,
            Estimate(float(value[n]), float(min(low[n], value[n])), float(max(high[n], value[n])),
                     int(counts[n]), method),
            int(group[n]),
            int(counts[n]),
        )
        for n, name in enumerate(names)
    ]  # fmt: skip
    return sorted(rated, key=lambda rating: (rating.component, -(rating.rating.value or 0.0)))


def components(players: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each player's component number; a component holds players linked by comparisons."""
    group = np.arange(players)
    for first, two in pairs:
        low, high = sorted((group[first], group[two]))
        if low != high:
            group[group == high] = low
    return np.unique(group, return_inverse=True)[1]


def _fit(players: int, pairs: NDArray[np.int64], won: Floats, group: NDArray[np.int64]) -> Floats:
    """Return the log strengths by the algorithm of Hunter (2004), centred within components."""
    wins = np.full(players, PRIOR)
    np.add.at(wins, pairs[:, 0], won)
    np.add.at(wins, pairs[:, 1], 1 - won)
    games = np.zeros((players, players))
    np.add.at(games, (pairs[:, 0], pairs[:, 1]), 1.0)
    games += games.T
    strength = np.ones(players)
    for _ in range(ROUNDS):
        shared = games / (strength[:, None] + strength[None, :])
        strength = wins / (shared.sum(axis=1) + 2 * PRIOR / (strength + 1))
    log_strength = np.log(strength)
    for number in np.unique(group):
        log_strength[group == number] -= log_strength[group == number].mean()
    return log_strength
