"""Which row of the cache a prompt goes to, and the trees of candidates; no torch is needed."""

import numpy as np
import pytest

from sally.core.prompt.model import ModelFailure
from sally.models.hf.jobs import tree_of
from sally.models.hf.rows import BLOCK, TAIL, PromptRow, Rows
from sally.models.in_process import stem_of


def page(*parts):
    return np.concatenate([np.arange(start, start + count) for start, count in parts])


def play_games(rows, tokens):
    """Take a row, evaluate the prompt in it, and leave."""
    place = rows.take(tokens)
    rows.hold(place.row, tokens, len(tokens))
    rows.free(place.row)
    return place


RULES = (0, 10 * BLOCK)


def test_grown_page_is_assigned_to_the_row_with_its_prefix():
    rows = Rows(3)
    first = play_games(rows, page(RULES, (5000, 40)))
    assert play_games(rows, page(RULES, (5000, 80))) == PromptRow(first.row, 10 * BLOCK + 40, None)


def test_two_episodes_share_the_rules_but_not_a_row():
    rows = Rows(3)
    first = play_games(rows, page(RULES, (5000, 2 * TAIL)))
    alternative = play_games(rows, page(RULES, (9000, 2 * TAIL)))
    assert alternative.row != first.row
    assert alternative == PromptRow(alternative.row, 10 * BLOCK, first.row)
    assert play_games(rows, page(RULES, (5000, 3 * TAIL))).row == first.row


def test_least_recently_used_row_is_evicted():
    rows = Rows(2)
    old, new = (play_games(rows, page((start, 100))) for start in (1000, 2000))
    assert play_games(rows, page((3000, 100))).row == old.row
    assert play_games(rows, page((2000, 150))).row == new.row


def test_busy_row_shares_its_prefix_but_is_not_assigned():
    rows = Rows(2)
    tokens = page(RULES)
    busy = rows.take(tokens)
    rows.hold(busy.row, tokens, len(tokens))
    assert rows.take(tokens) == PromptRow(1 - busy.row, len(tokens) - 1, busy.row)
    assert rows.take(tokens) is None


def test_state_left_by_a_failed_call_is_not_reused():
    rows = Rows(1)
    tokens = page(RULES)
    place = rows.take(tokens)
    rows.hold(place.row, tokens, len(tokens))
    rows.free(place.row, forget=True)
    assert rows.take(tokens).reuse == 0


def test_last_token_is_always_evaluated():
    rows = Rows(1)
    play_games(rows, page(RULES))
    assert play_games(rows, page(RULES)).reuse == 10 * BLOCK - 1


def test_tree_evaluates_shared_prefixes_once_and_omits_last_tokens():
    tree = tree_of([(1, 2, 3), (1, 2, 4), (1, 5), (6,)])
    assert tree.tokens.tolist() == [1, 2]
    assert tree.parents == (-1, 0)
    assert tree.depths.tolist() == [0, 1]
    assert tree.ancestors.tolist() == [[True, False], [True, True]]
    assert tree.asked == ((1, 6), (2, 5), (3, 4))


def test_candidate_score_is_the_sum_over_its_tokens():
    odds = {(0, 1): -1.0, (0, 6): -2.0, (1, 2): -0.5, (1, 5): -4.0, (2, 3): -0.25}
    sums = tree_of([(1, 2, 3), (1, 5), (6,)]).sums(lambda at, token: odds[at, token])
    assert sums == (-1.75, -5.0, -2.0)


def test_branches_are_masked_from_one_another():
    tree = tree_of([(1, 2, 3), (4, 5, 6)])
    pairs = {(int(a), int(b)) for a, b in zip(*np.nonzero(tree.ancestors), strict=True)}
    assert pairs == {(0, 0), (1, 0), (1, 1), (2, 2), (3, 2), (3, 3)}


def test_candidate_that_merges_with_the_context_moves_the_stem_back_for_all():
    stem, tails = stem_of(np.array([1, 2, 3]), [np.array([1, 2, 34]), np.array([1, 2, 3, 5])])
    assert stem.tolist() == [1, 2]
    assert tails == [(34,), (3, 5)]


def test_candidates_without_a_context_are_refused():
    with pytest.raises(ModelFailure, match="no context"):
        stem_of(np.array([1]), [np.array([2])])
