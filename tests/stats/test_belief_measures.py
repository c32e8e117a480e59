"""Measures of stated beliefs: small tables by hand, and players that are dialled."""

from __future__ import annotations

import numpy as np
import pytest

from sally.stats import belief_measures as measures
from sally.stats.belief_measures import BeliefColumns, columns

NAN = float("nan")


def small() -> BeliefColumns:
    """Four decisions of two people in two cells, three actions; the last row offers two."""
    value = [[3, 1, 1], [1, 2, 2], [0, 0, 5], [4, 6, NAN]]
    expected = [[0.1, 0.8, 0.1], [0.2, 0.4, 0.4], [0.5, 0.5, 0.0], [1.0, 0.0, NAN]]
    truth = [[1, 0, 2], [1, 1, 1], [0, 0, 8], [NAN, NAN, NAN]]
    return columns(
        person=["ann", "ann", "bob", "bob"],
        cluster=["ann", "ann", "bob", "bob"],
        cell=["one", "two", "one", "two"],
        game=["g", "g", "g", "h"],
        period=[1, 2, 1, 2],
        move=[0, 0, 1, 1],
        payoffs=value,
        expected=expected,
        true_worth=truth,
        on_menu=[[True, True, True]] * 3 + [[True, True, False]],
    )


def test_best_replies_and_chance_of_a_small_table() -> None:
    table = measures.keep_judged(small())
    assert len(table) == 4
    assert measures.acts(table).tolist() == [1, 0, 0, 1]
    assert measures.chance(table) == pytest.approx([1 / 3, 2 / 3, 1 / 3, 1 / 2])
    wins, room = 2 - (1 / 3 + 2 / 3 + 1 / 3 + 1 / 2), 4 - (1 / 3 + 2 / 3 + 1 / 3 + 1 / 2)
    assert measures.acting(table).value == pytest.approx(wins / room)


def test_rows_in_which_all_tie_or_nothing_is_defined_are_left_out() -> None:
    table = columns(
        person=["a", "b", "c"],
        cluster=["a", "b", "c"],
        cell=["x"] * 3,
        game=["g"] * 3,
        period=[None] * 3,
        move=[0, 0, 0],
        payoffs=[[1, 1 + 1e-9], [NAN, NAN], [1, 2]],
        expected=[[NAN, NAN]] * 3,
        true_worth=[[NAN, NAN]] * 3,
        on_menu=[[True, True]] * 3,
    )
    assert len(measures.keep_judged(table)) == 1


def test_habits_of_a_small_table() -> None:
    table = measures.keep_judged(small())
    # the best single action of game g is the third (2 of 3 rows), of game h the second
    assert measures.constant(table).tolist() == [0, 1, 1, 1]
    assert measures.constant(table, by_cell=True).sum() == 3
    # of the other player's rows in game g, ann's best is the third action, bob's the first; h has
    # no other player
    others = measures.constant_of_others(table)
    assert others[:3].tolist() == [0, 1, 0] and np.isnan(others[3])
    assert measures.always(table) == pytest.approx([0.25, 0.5, 0.5])
    assert measures.usual(table).tolist() == [1, 0, 0, 1]  # both repeat their other move
    assert np.isnan(measures.last_move(table)).tolist() == [True, False, True, False]
    assert measures.last_move(table)[[1, 3]].tolist() == [0, 1]


def test_usual_move_counts_ties_by_their_mean_and_only_moves_on_the_menu() -> None:
    table = columns(
        person=["a"] * 4,
        cluster=["a"] * 4,
        cell=["x"] * 4,
        game=["g"] * 4,
        period=[None] * 4,
        move=[0, 1, 2, 0],
        payoffs=[[1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, NAN]],
        expected=[[NAN] * 3] * 4,
        true_worth=[[NAN] * 3] * 4,
        on_menu=[[True] * 3] * 3 + [[True, True, False]],
    )
    # row 1: moves 1, 2 and 0 tie; rows 2 and 3: 0 twice; row 4: 0 and 1 tie, 2 is not offered
    assert measures.usual(table) == pytest.approx([1 / 3, 1, 1, 1 / 2])


def test_moves_against_beliefs_of_others_and_of_other_rows() -> None:
    table = measures.keep_judged(small())
    # ann's first move is 0, bob's best reply in that cell 2; and so on
    assert measures.swap_person(table).tolist() == [0, 0, 0, 1]
    assert measures.swap_period(table).tolist() == [0, 1, 1, 0]


def test_contest_has_no_best_reply_among_the_expected_moves() -> None:
    table = measures.keep_judged(small())
    assert measures.find_contests(table).tolist() == [True, False, True, True]
    contest = measures.contest(table)
    assert contest.rows == 3
    assert contest.best.value == pytest.approx(2 / 3)  # ann's first and bob's second move
    assert contest.expected.value == pytest.approx(1 / 3)  # bob's first, one of two tied
    # null of row 1: bob's move 1 against {0} and {1}; row 3: ann's 0 against {2} and {0, 1};
    # row 4: ann's 0 against {1} and {0}
    assert contest.best_null.value == 0
    assert contest.expected_null.value == pytest.approx(1)
    assert contest.best_gain.value == pytest.approx(2 / 3)
    assert contest.expected_gain.value == pytest.approx(1 / 3 - 1)
    assert contest.usual.value == 1  # both always repeat themselves
    assert measures.contest(table, [True, False, False, False]).rows == 1


def test_payoffs_are_scaled_from_random_to_best() -> None:
    table = measures.keep_judged(small())
    value = table.stated_worth
    random, best = np.nanmean(value, axis=1).sum(), np.nanmax(value, axis=1).sum()
    assert measures.stakes(table).value == pytest.approx((3 + 1 + 0 + 6 - random) / (best - random))
    # what the others did is known in the first three rows
    assert measures.doing(table).value == pytest.approx(
        (1 + 1 + 0 - (1 + 1 + 8 / 3)) / (11 - 14 / 3)
    )
    replied = (1 + 1 + 8 - (1 + 1 + 8 / 3)) / (11 - 14 / 3)
    assert measures.doing_if_best_replied(table).value == pytest.approx(replied)
    assert measures.loss(table).tolist() == [0, 1, 5, 0]
    assert measures.spread(table).tolist() == [2, 1, 5, 2]


def test_brier_score_of_odds() -> None:
    odds = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0]])
    truth = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert measures.brier(odds, truth) == pytest.approx([0.09 + 0.04 + 0.01, 2.0])
    crowd = np.array([[0.25, 0.75]])
    by_hand = 0.25 * ((0.5 - 1) ** 2 + 0.5**2) + 0.75 * (0.5**2 + (0.5 - 1) ** 2)
    assert measures.brier(np.array([[0.5, 0.5]]), crowd) == pytest.approx([by_hand])


def test_calibration_counts_impossible_and_certain_options() -> None:
    calibration = measures.calibration([0, 0, 0.5, 0.5, 1, 1], [0, 1, 0, 1, 1, 1])
    assert (calibration.never, calibration.never_count) == (0.5, 2)
    assert (calibration.certain, calibration.certain_count) == (1.0, 2)
    assert calibration.slope == pytest.approx(0.5)


# --- projection -----------------------------------------------------------------------------------


def society(seed: int, sees_partner: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Pairs within 30 sessions of 20: beliefs follow the own move, or also the partner's."""
    rng, size, sessions = np.random.default_rng(seed), 20, 30
    own = rng.integers(0, 3, size * sessions).astype(float)
    groups = np.repeat(np.arange(sessions), size)
    pairs = np.arange(size * sessions) ^ 1  # neighbours meet
    others = own[pairs]
    belief = own + rng.normal(0, 1, own.size)
    return (belief + others if sees_partner else belief), own, others, groups.tolist()


def test_projection_separates_own_and_others_moves() -> None:
    belief, own_array, others, _ = society(1, sees_partner=False)
    projection = measures.projection(belief, own_array, others)
    assert projection.own == pytest.approx(np.corrcoef(belief, own_array)[0, 1])
    assert projection.own_partial > 0.5 and abs(projection.others_partial) < 0.1
    residual = [np.polyval(np.polyfit(others, item, 1), others) for item in (belief, own_array)]
    by_hand = np.corrcoef(belief - residual[0], own_array - residual[1])[0, 1]
    assert projection.own_partial == pytest.approx(by_hand)


def test_null_of_new_pairs_is_below_zero_and_found_only_if_nothing_was_foreseen() -> None:
    belief, own_array, others, groups = society(2, sees_partner=False)
    blind = measures.pairing_null(belief, own_array, others, groups, draws=400)
    assert -0.1 < blind.null < 0 and blind.low < blind.r < blind.high and blind.p > 0.05
    belief, own_array, others, groups = society(2, sees_partner=True)
    seeing = measures.pairing_null(belief, own_array, others, groups, draws=400)
    assert seeing.r > 0.4 and seeing.p == 0


def test_new_groups_of_four_exclude_the_player() -> None:
    own_array = np.arange(8.0)
    codes = np.zeros(8, dtype=np.intp)
    order = np.arange(8)
    met = measures._mean_of_met(own_array, codes, order, 4)
    assert met[0] == pytest.approx((1 + 2 + 3) / 3) and met[7] == pytest.approx((4 + 5 + 6) / 3)
    pairs = measures._mean_of_met(own_array, codes, order, 2)
    assert pairs.tolist() == [1, 0, 3, 2, 5, 4, 7, 6]
