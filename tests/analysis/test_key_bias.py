"""Label and position bias: the interval covers what a player of known preferences does."""

from __future__ import annotations

import numpy as np
import pytest

from sally.analysis.profile.habits import key_presses, same_key_estimate
from sally.stats.intervals import Estimate


def press(
    chance: np.random.Generator, shares: tuple[float, ...], instances: int, spread: float
) -> Estimate:
    """Return the bias of a player that presses keys with these mean shares, which vary over
    instances."""
    rows = []
    for _ in range(instances):
        counts = chance.multinomial(10, chance.dirichlet(np.array(shares) * spread))
        menu = enumerate(counts.tolist())
        rows.append({f"label {key} of x": (len(shares), 10, count, 0) for key, count in menu})
    return same_key_estimate(key_presses(rows, range(instances), "label"), np.arange(instances))


@pytest.mark.parametrize(
    ("shares", "truth"), [((0.5, 0.5), 0.0), ((0.6, 0.4), 0.04), ((0.5, 0.3, 0.2), 0.07)]
)
def test_interval_covers_the_bias(shares: tuple[float, ...], truth: float) -> None:
    """Before, errors were those of single rows, and .67 to .71 of the intervals covered."""
    chance = np.random.default_rng(5)
    estimates = [press(chance, shares, 36, 5.0) for _ in range(300)]
    covered = sum(estimate.low <= truth <= estimate.high for estimate in estimates)
    assert 0.91 <= covered / 300 <= 0.98
    assert np.mean([estimate.value for estimate in estimates]) == pytest.approx(truth, abs=0.01)


def test_one_key_always_is_1_and_not_certain() -> None:
    estimate = press(np.random.default_rng(1), (1.0 - 1e-9, 1e-9), 12, 1e9)
    assert estimate.value == pytest.approx(1) and estimate.low < 0.95


def test_few_instances_have_no_interval() -> None:
    assert press(np.random.default_rng(1), (0.6, 0.4), 4, 5.0).interval is None


def count_elsewhere(
    rows: list[dict[str, tuple[int, int, int, int]]], units: list[int]
) -> list[list[int]]:
    """Return, for each row and key of its menu, how often the key was pressed in other units."""
    return [
        [
            sum(
                other[key][2]
                for other, other_unit in zip(rows, units, strict=True)
                if key in other and other_unit != unit
            )
            for key in row
        ]
        for row, unit in zip(rows, units, strict=True)
    ]


@pytest.mark.parametrize("instances", [12, 3])
def test_rows_with_equal_presses_count_each(instances: int) -> None:
    """Rows with the same presses share their entries, but each of them counts."""
    chance = np.random.default_rng(7)
    menus = [
        {f"label {key} of {name}": (2, 4, presses, 0) for key, presses in enumerate((n, 4 - n))}
        for name in "xy"
        for n in range(3)
    ]
    codes = chance.integers(0, len(menus), 12)
    each_row = instances == len(codes)
    units = np.arange(12) if each_row else chance.integers(0, instances, 12)
    presses = key_presses(menus, range(12) if each_row else units, "label", codes)
    shared = dict[int, list[float]]()
    for menu, hits in zip(presses.menu.tolist(), presses.pressed_elsewhere.tolist(), strict=True):
        shared.setdefault(menu, []).append(hits)
    rows = [menus[code] for code in codes]
    assert [shared[menu] for menu in presses.menu_of_row.tolist()] == count_elsewhere(
        rows, units.tolist()
    )
    assert len(shared) < len(rows)
