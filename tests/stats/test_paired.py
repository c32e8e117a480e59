"""Paired tests, effect sizes and equivalence against published worked examples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as peer

from sally.stats.effects import cohens_d, cohens_dz
from sally.stats.equivalence import equivalence_p, paired_equivalence_p
from sally.stats.intervals import clustered_mean_interval
from sally.stats.paired_differences import (
    paired_difference,
    sign_flip_test,
    unpaired_difference,
)

# Darwin's maize, cross- minus self-fertilised, eighths of an inch; Fisher (1935), The Design of
# Experiments, sections 17 and 21.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

# Lakens (2013), Frontiers in Psychology 4:863, table 1: two films rated by ten people.
FILM_1 = [9, 7, 8, 9, 8, 9, 9, 10, 9, 9]
FILM_2 = [9, 6, 7, 8, 7, 9, 8, 8, 8, 7]


def test_sign_flip_test_of_darwin_pairs_equals_fishers_count():
    assert sign_flip_test(DARWIN, seed=1) == 2 * 863 / 32768


def test_sampled_flips_approximate_the_exact_p():
    actual_sign_flip_test = sign_flip_test(DARWIN, seed=1, exact_up_to=5, flips=50_000)
    assert actual_sign_flip_test != 2 * 863 / 32768
    assert actual_sign_flip_test == pytest.approx(2 * 863 / 32768, abs=0.004)


def test_sampled_p_is_never_zero():
    actual_sign_flip_test = sign_flip_test([1.0] * 60, seed=1, flips=999)
    assert actual_sign_flip_test == 1 / 1000


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=7))
def test_exact_p_is_the_share_of_sign_flips_at_least_as_extreme(differences):
    signs = list(itertools.product([1, -1], repeat=len(differences)))
    totals = [abs(sum(s * d for s, d in zip(choice, differences, strict=True))) for choice in signs]
    expected = sum(t >= abs(sum(differences)) for t in totals) / len(signs)
    assert sign_flip_test([d / 10 for d in differences], seed=1) == expected


def test_clusters_are_flipped_together():
    # Two clusters leave four sign choices, two of them as extreme as all positive: p = 1/2.
    assert sign_flip_test([1, 2, 3, 4], clusters=["a", "a", "b", "b"], seed=1) == 0.5
    assert sign_flip_test([1, 2, 3, 4], seed=1) == 2 / 16


def test_p_is_none_without_data_and_one_for_zero_differences():
    assert sign_flip_test([], seed=1) is None
    assert sign_flip_test([0, 0, 0], seed=1) == 1


def test_lakens_film_ratings():
    assert cohens_d(FILM_1, FILM_2) == pytest.approx(1.13, abs=0.005)
    assert cohens_dz(FILM_1, FILM_2) == pytest.approx(1.50, abs=0.005)
    assert paired_difference(FILM_1, FILM_2).interval == pytest.approx([0.52, 1.48], abs=0.005)


def test_separate_groups_get_welchs_interval():
    theirs = peer.ttest_ind(FILM_1, FILM_2, equal_var=False).confidence_interval()
    ours = unpaired_difference(FILM_1, FILM_2)
    assert ours.interval == pytest.approx([theirs.low, theirs.high])
    assert unpaired_difference([1], [2, 3]).interval is None
    assert unpaired_difference([], [2, 3]).value is None


def test_effect_sizes_without_spread_or_data_are_none():
    assert cohens_d([1, 1], [2, 2]) is None
    assert cohens_d([], [1, 2]) is None
    assert cohens_dz([2, 3], [1, 2]) is None


def test_bootstrapped_difference_is_near_the_t_interval_and_widens_with_clusters():
    rng = np.random.default_rng(2)
    shared = np.repeat(rng.normal(size=30), 5)
    first, second = shared + rng.normal(size=150) * 0.3, np.zeros(150)
    t = paired_difference(first, second)
    plain = clustered_mean_interval(first - second, range(150), seed=1)
    assert plain.interval == pytest.approx(t.interval, abs=0.02)
    together = np.repeat(range(30), 5).tolist()
    clustered = clustered_mean_interval(first - second, together, seed=1)
    assert clustered.high - clustered.low > 1.8 * (plain.high - plain.low)


def test_unequal_columns_are_refused():
    with pytest.raises(ValueError, match="first has 2 rows and second has 1"):
        paired_difference([1, 2], [1])


def test_lakens_equivalence_of_organic_food():
    # Lakens (2017), Social Psychological and Personality Science 8: means 5.25 and 5.22, sds .95
    # and .83, n 95 and 89, bounds d = .48; the larger of the two tests has t = -3.03, p = .001.
    pooled = math.sqrt((0.95**2 + 0.83**2) / 2)
    a, b = 0.95**2 / 95, 0.83**2 / 89
    degrees = (a + b) ** 2 / (a**2 / 94 + b**2 / 88)
    bound = 0.48 * pooled
    actual_equivalence_p = equivalence_p(0.03, math.sqrt(a + b), degrees, (-bound, bound))
    assert actual_equivalence_p == pytest.approx(peer.t.sf(3.03, 182), abs=1e-4)


def test_equivalence_holds_exactly_if_the_90_percent_interval_is_inside():
    rng = np.random.default_rng(4)
    verdicts = set()
    for _ in range(60):
        first, second = rng.normal(0.2, 1, 25), rng.normal(0, 1, 25)
        low, high = paired_difference(first, second, level=0.9).interval
        inside = low > -0.6 and high < 0.7
        assert (paired_equivalence_p(first - second, (-0.6, 0.7)) < 0.05) == inside
        verdicts.add(inside)
    assert verdicts == {True, False}


def test_equivalence_p_values_equal_one_sided_scipy_tests():
    away = np.subtract(FILM_1, FILM_2)
    above = peer.ttest_1samp(away, 0.5, alternative="greater").pvalue
    below = peer.ttest_1samp(away, 2.0, alternative="less").pvalue
    assert paired_equivalence_p(away, (0.5, 9.0)) == pytest.approx(above)
    assert paired_equivalence_p(away, (-9.0, 2.0)) == pytest.approx(below)
    assert paired_equivalence_p(away, (0.5, 2.0)) == pytest.approx(max(above, below))


def test_equivalence_without_data_is_undecided():
    assert paired_equivalence_p([0], (-1, 1)) is None
    with pytest.raises(ValueError, match="low < high"):
        paired_equivalence_p([0, -1], (1, -1))
