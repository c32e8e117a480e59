"""Two halves of the problems of a table: a rule is chosen in one half and scored in the other."""

from __future__ import annotations

import msgspec
import numpy as np

from sally.frames.profiles import Codes, SeatSums
from sally.stats.columns import encode_labels


def other_players(table: SeatSums) -> Codes:
    """Return, for each row, a number that identifies the players in the other seats."""
    keys = []
    for shared in table.shared:
        others = {
            seat: (player.player, player.params)
            for seat, player in shared.setup.lineup.items()
            if seat != shared.seat
        }
        keys.append(msgspec.json.encode(others, order="sorted"))
    players: Codes = encode_labels(keys, len(keys), "kinds")[0][table.kind]
    return players


def halves_of(clusters: Codes, players: Codes) -> Codes:
    """Return the half (0 or 1) of each row: clusters with the same other players take turns.

    So both halves have the same other players, as far as possible. If single clusters were left
    out instead, the choice would favour rules that fail with the players left out.

    >>> halves_of(np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])).tolist()
    [1, 1, 0, 0]
    """
    _, first, codes = np.unique(clusters, return_index=True, return_inverse=True)
    order = np.argsort(first)  # clusters in order of appearance
    groups = _group_clusters(codes, players)[order]
    _, first, groups = np.unique(groups, return_index=True, return_inverse=True)
    group_order = np.argsort(np.argsort(first))  # place of each group in order of appearance
    halves = np.empty(len(order), dtype=np.int64)
    halves[order] = (group_order[groups] + _ranks(groups) + 1) % 2  # groups begin with either half
    rows: Codes = halves[codes]
    return rows


def _group_clusters(clusters: Codes, players: Codes) -> Codes:
    """Return, for each cluster, a number that identifies its set of players."""
    width = int(players.max(initial=0)) + 1
    cluster, player = np.divmod(np.unique(clusters * width + players), width)
    rank = _ranks(cluster)
    groups = np.zeros(int(cluster.max(initial=-1)) + 1, dtype=np.int64)
    count = 1  # numbers given so far
    for place in range(int(rank.max(initial=-1)) + 1):
        members = np.flatnonzero(rank == place)  # the next player of each set that has another one
        sets = groups[cluster[members]] * width + player[members]
        numbers = np.unique(sets, return_inverse=True)[1]
        groups[cluster[members]] = count + numbers
        count += int(numbers.max()) + 1
    return groups


def _ranks(labels: Codes) -> Codes:
    """Return, for each row, the number of earlier rows with the same label."""
    order = np.argsort(labels, kind="stable")
    is_first = np.diff(labels[order], prepend=-1) != 0
    starts = np.flatnonzero(is_first)
    ranks = np.empty(len(labels), dtype=np.int64)
    ranks[order] = np.arange(len(labels)) - starts[np.cumsum(is_first) - 1]
    return ranks
