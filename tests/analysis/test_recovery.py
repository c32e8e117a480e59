"""What is dialled in is found again: how much a player knows, and how often it acts on it.

The short form draws 20 samples out of one pool of episodes a family; `benchmarks/recovery.py` is
the long form, with fresh episodes for every sample and all corners of the dials.
"""

from __future__ import annotations

from math import sqrt
from random import Random

import pytest

from sally.frames.measured_seat import MeasuredSeat, measure_episode
from tests.analysis.dialled import families
from tests.analysis.profiles import profile_of

FAMILIES = families()
POOL = {
    "repeated_games": 240,  # several decisions an episode
    "pick_the_right_stuff": 200,
    "toma_mg": 800,  # many moves there are best replies, so that one decision says less
}
ALONE, SAMPLE, RUNS = 400, 40, 20


def pool(family: str, knows: float, acts: float, n: int = 0) -> list[MeasuredSeat]:
    single_family = FAMILIES[family]
    return [
        m
        for seed in range(n or POOL.get(family, ALONE))
        for m in measure_episode(single_family.played(seed, knows, acts), (single_family.seat,))
    ]


def four_errors(results: list[MeasuredSeat]) -> float:
    """Four standard errors of a share over a pool, on the scale whose zero is a blind pick."""
    n = sum(m.acting.weighed for m in results)
    chance = sum(m.acting.chance for m in results) / n
    return 4 * 0.5 / sqrt(n) / (1 - chance)


@pytest.mark.parametrize("family", FAMILIES)
def test_knowing_and_acting_are_recovered_and_intervals_cover_them(family: str):
    knows, acts = 0.6, 0.5
    measured_seats = pool(family, knows, acts)
    (row,) = profile_of(measured_seats)
    assert row.skill.value == pytest.approx(knows, abs=four_errors(measured_seats))
    assert row.acting.value == pytest.approx(acts, abs=four_errors(measured_seats))
    held = {"skill": 0, "acting": 0}
    dice = Random(17)
    for _ in range(RUNS):
        (row,) = profile_of(dice.sample(measured_seats, SAMPLE))
        held["skill"] += row.skill.low <= knows <= row.skill.high
        held["acting"] += row.acting.low <= acts <= row.acting.high
    assert min(held.values()) / RUNS >= 0.9


@pytest.mark.parametrize("family", ["repeated_games", "toma_po"])
def test_acting_does_not_fall_as_a_player_knows_less(family: str):
    """At the same will to act, the old translation loss fell from .50 to -.18."""
    acting = []
    for knows in (1.0, 0.5, 0.0):
        (row,) = profile_of(pool(family, knows, 0.5, 240))
        acting.append(row.acting.value)
        assert row.translation.value > 0
    assert max(acting) - min(acting) < 0.12  # it fell by .68
