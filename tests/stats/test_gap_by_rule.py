"""The difference of two sides has its interval by the one rule too."""

from __future__ import annotations

import math

from sally.stats.cluster_interval import gap_by_rule


def test_games_of_one_person_count_once() -> None:
    one, two = [1.0, 0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]
    alone = gap_by_rule(one, two, list("abcdefghij"), (-1, 1))
    doubled = gap_by_rule(one * 2, two * 2, list("abcdeabcdefghijfghij"), (-1, 1))
    assert alone.value is not None and math.isclose(alone.value, 0.4)
    assert doubled.interval == alone.interval


def test_too_few_persons_have_a_gap_and_no_interval() -> None:
    found = gap_by_rule([1.0, 1.0], [0.0], ["ann", "ben", "cid"], (-1, 1))
    assert (found.value, found.interval) == (1.0, None)
    assert gap_by_rule([], [0.0], ["ann"]).value is None


def test_no_gap_of_shares_leaves_its_ends() -> None:
    found = gap_by_rule([1.0] * 5 + [0.0], [0.0] * 6, list(range(12)), (-1, 1))
    assert found.interval is not None and -1 <= found.interval[0] < found.interval[1] <= 1
