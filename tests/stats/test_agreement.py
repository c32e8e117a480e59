"""Agreement against worked examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.stats.agreement import (
    LabelScore,
    cohens_kappa,
    krippendorffs_alpha,
    label_scores,
    macro_f1,
    mean_absolute_error,
    percent_agreement,
)

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example D: four observers,
# twelve units, some missing.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("interval", 0.849)])
def test_krippendorffs_own_example(scale, alpha):
    assert krippendorffs_alpha(OBSERVERS, scale) == pytest.approx(alpha, abs=0.0005)


def test_two_complete_coders_give_scotts_pi_with_its_small_sample_correction():
    # Krippendorff (2011), example A, binary data of two observers: alpha = 0.095.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorffs_alpha([first, second]) == pytest.approx(0.095, abs=0.0005)


def test_alpha_without_pairs_or_without_variation_is_none():
    assert krippendorffs_alpha([[1, None], [None, 2]]) is None
    assert krippendorffs_alpha([[1, 1], [1, 1]]) is None
    assert krippendorffs_alpha([]) is None
    with pytest.raises(ValueError, match="coder 1 has 1 rows"):
        krippendorffs_alpha([[1, 2], [1]])


def test_kappa_of_fifty_grant_proposals():
    # The usual worked example: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: (.7 - .5) / (1 - .5).
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert percent_agreement(first, second) == 0.7
    assert cohens_kappa(first, second) == pytest.approx(0.4)


def test_kappa_is_none_if_chance_agreement_is_complete():
    assert cohens_kappa(["a", "a"], ["a", "a"]) is None
    assert cohens_kappa([], []) is None
    assert percent_agreement([], []) is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20))
def test_agreement_is_symmetric_in_the_raters(pairs):
    first, second = zip(*pairs, strict=True)
    kappa, back = cohens_kappa(first, second), cohens_kappa(second, first)
    assert kappa == back or kappa == pytest.approx(back)
    alpha = krippendorffs_alpha([first, second])
    assert alpha == pytest.approx(krippendorffs_alpha([second, first]))
    assert alpha is None or alpha <= 1


def test_mean_absolute_error():
    assert mean_absolute_error([1, 2, 3], [1, 4, 2]) == 1.0
    assert mean_absolute_error([], []) is None


def test_f1_by_hand():
    truth = ["cat", "cat", "cat", "dog", "dog", "emu"]
    given_labels = ["cat", "cat", "dog", "dog", "cat", "cat"]
    scores = label_scores(truth, given_labels)
    assert scores["cat"] == LabelScore(hits=2, false_alarms=2, misses=1)
    assert scores["cat"].f1 == pytest.approx(4 / 7)
    assert (scores["dog"].f1, scores["emu"].f1) == (0.5, 0.0)
    assert macro_f1(scores.values()) == pytest.approx((4 / 7 + 0.5 + 0) / 3)


def test_macro_f1_of_nothing_is_none():
    assert macro_f1([]) is None
    assert macro_f1([LabelScore(0, 0, 0)]) is None


def test_noise_has_no_agreement():
    rng = np.random.default_rng(1)
    first, second = rng.integers(3, size=(2, 4000)).tolist()
    assert cohens_kappa(first, second) == pytest.approx(0, abs=0.05)
    assert krippendorffs_alpha([first, second], "interval") == pytest.approx(0, abs=0.05)
