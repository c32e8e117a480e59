"""Adjusted p values against published examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.stats.multiple_tests import holm

# Benjamini and Hochberg (1995), JRSS B 57, section 4: fifteen tests in a trial of thrombolysis.
TRIAL = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
TRIAL += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]


def test_holm_by_hand():
    # .005 * 4, .01 * 3, .03 * 2, .04 * 1 raised to the step before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_trial_of_thrombolysis_rejects_three():
    assert sum(p <= 0.05 for p in holm(TRIAL)) == 3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_values_keep_order_and_stay_between_raw_and_one(p_values):
    adjusted = holm(p_values)
    assert all(p <= a + 1e-15 and a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    by_raw = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert by_raw == sorted(by_raw)


@given(st.permutations(TRIAL))
def test_order_of_the_tests_does_not_matter(shuffled):
    assert dict(zip(shuffled, holm(shuffled), strict=True)) == dict(
        zip(TRIAL, holm(TRIAL), strict=True)
    )


def test_empty_input_gives_no_p_values_and_invalid_p_is_refused():
    assert holm([]) == []
    with pytest.raises(ValueError, match=r"p_values\[1\] is 1.2"):
        holm([0.1, 1.2])
