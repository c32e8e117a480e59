"""Intervals cover the truth of simulated players; `benchmarks/interval_coverage.py` in short."""

from __future__ import annotations

import pytest

from benchmarks.interval_coverage import list_cases, measure_coverage

CASES = [
    number
    for number, case in enumerate(list_cases())
    if (case.measure, case.clusters, case.truth)
    in {
        ("slope told", 20, 0.3),
        ("acting by contrast", 12, 0.3),
        ("J", 24, 0.3),
        ("informant: slope", 24, 0.3),
        ("informant: less control", 24, 0.3),
        ("acting, corrected", 12, 0.7),
        ("skill, corrected", 12, 0.6),
    }
    or (case.measure == "beyond learning rules, others near" and case.clusters == 12 and case.truth)
]


@pytest.mark.parametrize("number", CASES)
def test_interval_covers(number: int) -> None:
    coverage = measure_coverage(200, number)
    assert 0.9 <= coverage.covered <= 0.985 and abs(coverage.bias) < 0.03
