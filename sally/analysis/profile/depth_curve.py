"""Accuracy at each reasoner depth, and pass^k, for each player of some episodes.

Only decisions from sets of blocks count, one block for each depth of reasoning: in a block, a
reasoner of its depth is right in every decision, and every shallower reasoner is right only as
often as chance. `corrected` is 0 at chance level and 1 if every decision in the block is right. A
forfeited decision counts as wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import comb

import msgspec

from sally.core.log.events import Episode, label
from sally.core.registry import registry
from sally.core.rules.depth import Depths
from sally.core.rules.game import Seat
from sally.frames.replays import replay_for_measures
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate


class DepthPoint(msgspec.Struct, frozen=True):
    """The accuracy of one player on the blocks of one reasoner depth."""

    game: str
    seat: str
    player: str
    depth: int
    right: Estimate  # share of decisions, clustered by instance
    chance: float
    corrected: float | None  # None where chance is 1
    pass_all: dict[int, float]  # by k: the chance that k repeats of one instance are all right
    instances: int


def pass_hat(right: int, repeats: int, k: int) -> float:
    """Return pass^k: the probability that k of the repeats, drawn at random, are all right.

    This is the unbiased estimate C(right, k) / C(repeats, k).

    >>> pass_hat(3, 4, 2)
    0.5
    """
    if not 0 < k <= repeats or not 0 <= right <= repeats:
        raise ValueError(f"`k` must be from 1 to {repeats}, and `right` from 0 to {repeats}.")
    return comb(right, k) / comb(repeats, k)


def depth_curve(episodes: Iterable[Episode]) -> list[DepthPoint]:
    """Return the points of the depth curve of every player, by game, seat, player and depth."""
    hits: dict[tuple[str, str, str, int], dict[str, list[bool]]] = {}
    chances: dict[tuple[str, str, str, int], list[float]] = defaultdict(list)
    for episode in episodes:
        game = episode.setup.instance.game
        declared: Depths | None = registry.part(game, "depths")
        if declared is None:
            continue
        replayed = replay_for_measures(episode)
        problem = msgspec.json.encode(episode.setup.instance, order="sorted").decode()
        for seat, player in episode.setup.lineup.items():
            for n, answer in enumerate(declared.answered(replayed, Seat(seat))):
                if answer.reasoned.block is None:
                    continue
                key = (game, seat, label(player), answer.reasoned.block)
                name = f"{problem} {n}"
                hits.setdefault(key, {}).setdefault(name, []).append(answer.right)
                chances[key].append(answer.reasoned.chance)
    return [_point(key, hits[key], chances[key]) for key in sorted(hits)]


def _point(
    key: tuple[str, str, str, int], by_instance: dict[str, list[bool]], chances: list[float]
) -> DepthPoint:
    values = [float(right) for listed in by_instance.values() for right in listed]
    clusters = [name for name, listed in by_instance.items() for _ in listed]
    right = mean_by_rule(values, clusters, (0.0, 1.0))
    chance = sum(chances) / len(chances)
    repeats = min(len(listed) for listed in by_instance.values())
    passed = {
        k: sum(pass_hat(sum(listed), len(listed), k) for listed in by_instance.values())
        / len(by_instance)
        for k in range(1, repeats + 1)
    }
    assert right.value is not None  # a key has at least one decision
    corrected = None if chance >= 1 else (right.value - chance) / (1 - chance)
    game, seat, player, depth = key
    return DepthPoint(game, seat, player, depth, right, chance, corrected, passed, len(by_instance))
