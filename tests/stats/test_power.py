"""Sample sizes against published tables, and the formulas against simulation."""

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from scipy import special
from scipy.stats import binom

from sally.stats.power import (
    design_effect,
    equivalence_power,
    intraclass_correlation,
    paired_share_sample_size,
    t_power,
    t_sample_size,
)
from tests.stats.simulation import simulated_power


@pytest.mark.parametrize(
    # Cohen (1988), table 2.4.1: n per group at alpha .05 two-sided.
    ("d", "power", "n"),
    [(0.2, 0.8, 394), (0.5, 0.8, 64), (0.8, 0.8, 26), (0.5, 0.9, 86)],
)
def test_unpaired_sample_sizes_equal_those_of_cohen(d, power, n):
    assert t_sample_size(d, 1.0, power=power, groups=2) == n


def test_paired_sizes_of_a_medium_effect():
    # The standard t test tables (G*Power 3): dz = .5 needs 34 pairs at 80%, 44 at 90%.
    assert t_sample_size(0.5, 1.0) == 34
    assert t_sample_size(0.5, 1.0, power=0.9) == 44
    assert t_sample_size(1.0, 4.0) == 34


def test_sample_size_and_power_equal_documented_values_of_r():
    # R, ?power.t.test: delta = 1, power .90 gives n = 22.02.
    assert t_sample_size(1.0, 1.0, power=0.9, groups=2) == 23
    # ?power.t.test: n = 20, delta = 1, sd = 1 has power 0.8689528.
    assert t_power(20, 1.0, 1.0, groups=2) == pytest.approx(0.8689528, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 8, 40, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.0001])
def test_power_is_known_and_rises_with_the_difference(n: int, alpha: float):
    powers = [t_power(n, shift / math.sqrt(n), 1.0, alpha=alpha) for shift in range(120)]
    assert all(later >= earlier - 1e-4 for earlier, later in pairwise(powers)), powers  # no NaN
    assert n == 2 or powers[-1] > 0.5
    reached = [equivalence_power(n, shift / math.sqrt(n), 1.0) for shift in range(120)]
    assert all(later >= earlier - 1e-4 for earlier, later in pairwise(reached)), reached


def test_power_at_no_difference_is_alpha():
    assert t_power(30, 0.0, 1.0, alpha=0.05) == pytest.approx(0.05)


def test_sample_size_is_minimal():
    n = t_sample_size(0.3, 1.0)
    assert t_power(n, 0.3, 1.0) >= 0.8 > t_power(n - 1, 0.3, 1.0)


def test_simulated_paired_experiments_reach_the_stated_power():
    n = t_sample_size(0.4, 0.64)

    def experiment(rng):
        return float(scipy.stats.ttest_1samp(rng.normal(0.4, 0.8, n), 0).pvalue)

    low, high = simulated_power(experiment, seed=1, repeats=1000).interval
    assert low <= t_power(n, 0.4, 0.64) <= high


def test_simulated_paired_shares_reach_the_stated_power():
    # 30% of the pairs succeed only under the first condition, 15% only under the second.
    # Connor (1987): (1.95996 * sqrt(.45) + .84162 * sqrt(.45 - .15 ** 2)) ** 2 / .15 ** 2 = 154.6.
    n = paired_share_sample_size(0.15, 0.45)
    assert n == 155

    def experiment(rng):
        b, c, _ = rng.multinomial(n, [0.3, 0.15, 0.55])
        return 2 * special.ndtr(-abs(b - c) / np.sqrt(b + c))

    assert simulated_power(experiment, seed=3, repeats=4000).value == pytest.approx(0.8, abs=0.025)


def test_design_effect_predicts_the_variance_of_a_clustered_mean():
    # Kish: 1 + (10 - 1) * .2 = 2.8; the variance of the mean of 30 clusters of 10, by simulation.
    effect = design_effect(0.2, [10] * 30)
    assert effect == pytest.approx(2.8)
    rng = np.random.default_rng(5)
    shared = rng.normal(scale=np.sqrt(0.2), size=(4000, 30, 1))
    means = (shared + rng.normal(scale=np.sqrt(0.8), size=(4000, 30, 10))).mean(axis=(1, 2))
    assert means.var() == pytest.approx(effect / 300, rel=0.07)


def test_unequal_clusters_increase_the_design_effect():
    # Mean 10, variance 25: 1 + (1.25 * 10 - 1) * .2 = 3.3.
    assert design_effect(0.2, [5, 15]) == pytest.approx(3.3)
    assert design_effect(0.0, [5, 15]) == 1
    assert t_sample_size(0.5, 1.0, design_effect=2.0) == 68


def test_intraclass_correlation_of_shrout_and_fleiss():
    # Shrout and Fleiss (1979), Psychological Bulletin 86, tables 2 and 4: ICC(1, 1) = .17.
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    values = [v for row in ratings for v in row]
    targets = [i for i, row in enumerate(ratings) for _ in row]
    assert intraclass_correlation(values, targets) == pytest.approx(0.166, abs=0.0005)
    assert intraclass_correlation([1, 2], ["a", "b"]) is None
    assert intraclass_correlation([1, 1, 1, 1], ["a", "a", "b", "b"]) is None


def test_impossible_targets_are_refused_with_one_message():
    with pytest.raises(ValueError, match="no sample size"):
        t_sample_size(0, 1.0)
    with pytest.raises(ValueError, match="positive number"):
        t_sample_size(0.5, 0.0, groups=2)
    with pytest.raises(ValueError, match="power is 1"):
        t_sample_size(0.5, 1.0, power=1, groups=2)
    with pytest.raises(ValueError, match="must be above the difference"):
        paired_share_sample_size(0.3, 0.2)


def test_pairs_for_exact_test_of_shares_reach_the_exact_power():
    """Of n pairs, m disagree; the exact test looks at how many of these m favour the first."""
    detect, discordant = 0.2, 0.52

    def power(n: int) -> float:
        total = 0.0
        for m in range(1, n + 1):
            favours = np.arange(m + 1)
            p = 2 * binom.cdf(np.minimum(favours, m - favours), m, 0.5)
            chance = binom.pmf(favours, m, (1 + detect / discordant) / 2)
            total += binom.pmf(m, n, discordant) * chance[p <= 0.05].sum()
        return float(total)

    plain = paired_share_sample_size(detect, discordant)
    exact = paired_share_sample_size(detect, discordant, exact=True)
    assert power(plain) < 0.78 and 0.79 < power(exact) < 0.83
