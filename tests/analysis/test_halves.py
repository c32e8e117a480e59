"""Halves of the problems of a table: clusters with the same other players take turns."""

from __future__ import annotations

import numpy as np

from sally.analysis.profile.halves import halves_of


def halves(clusters: list[int], players: list[int]) -> list[int]:
    return halves_of(np.array(clusters), np.array(players)).tolist()


def test_clusters_with_the_same_players_take_turns() -> None:
    assert halves([0, 1, 2, 3], [5, 5, 5, 5]) == [1, 0, 1, 0]


def test_groups_of_clusters_begin_with_either_half() -> None:
    assert halves([0, 1, 2, 3], [5, 6, 5, 6]) == [1, 0, 0, 1]


def test_order_is_that_of_appearance_and_not_of_numbers() -> None:
    assert halves([9, 4, 9, 4], [1, 1, 1, 1]) == [1, 0, 1, 0]


def test_a_cluster_belongs_to_the_group_of_all_its_players() -> None:
    clusters, players = [0, 0, 1, 2, 2, 3], [1, 2, 1, 2, 1, 1]
    assert halves(clusters, players) == [1, 1, 0, 0, 0, 1]


def test_sets_of_different_size_are_different_groups() -> None:
    """Players 0 and 1 are not player 1, although a set is numbered player by player."""
    assert halves([0, 0, 1, 2, 2, 3], [0, 1, 1, 0, 1, 1]) == [1, 1, 0, 0, 0, 1]


def test_no_rows() -> None:
    assert halves_of(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).tolist() == []
