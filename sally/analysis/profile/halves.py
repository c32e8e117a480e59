"""Two halves of the problems of a table: a rule is chosen in one half and scored in the other."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from sally.frames.profiles import Codes, SeatSums


def other_players(table: SeatSums) -> list[str]:
    """Return, for each row, a key that identifies the players in the other seats."""
    keys = []
    for shared in table.shared:
        others = {
            seat: (player.player, player.params)
            for seat, player in shared.setup.lineup.items()
            if seat != shared.seat
        }
        keys.append(msgspec.json.encode(others, order="sorted").decode())
    return [keys[kind] for kind in table.kind.tolist()]


def halves_of(clusters: Codes, players: Sequence[str]) -> Codes:
    """Return the half (0 or 1) of each row: clusters with the same other players take turns.

    So both halves have the same other players, as far as possible. If single clusters were left
    out instead, the choice would favour rules that fail with the players left out.

    >>> halves_of(np.array([0, 0, 1, 2]), ["a", "a", "a", "b"]).tolist()
    [1, 1, 0, 0]
    """
    players_by_cluster: dict[int, set[str]] = {}
    for cluster, player in zip(clusters.tolist(), players, strict=True):
        players_by_cluster.setdefault(cluster, set()).add(player)
    halves = np.zeros(max(players_by_cluster, default=-1) + 1, dtype=np.int64)
    counts: dict[frozenset[str], int] = {}
    for cluster, group in players_by_cluster.items():
        key = frozenset(group)
        counts[key] = counts.get(key, len(counts)) + 1  # groups begin with either half, in turn
        halves[cluster] = counts[key] % 2
    rows: Codes = halves[clusters]
    return rows
