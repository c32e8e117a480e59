"""What every game on the shelf must satisfy: the checks of `sally.testing`."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sally import testing
from sally.testing import logs, probes, rules, words
from tests import table
from tests.table import every

bench = cache(table.bench)  # what one check has found out of a game, the next need not
few = settings(max_examples=6)
every_game = pytest.mark.parametrize("name", every())
any_seed = given(seed=st.integers(0, 2**53))
SEED = 1  # where one is enough, or where Hypothesis would reseed `random`


# --- the rules ----------------------------------------------------------------------------------


@every_game
@few
@any_seed
def test_rules_hold_at_every_step(name: str, seed: int) -> None:
    rules.rules_hold_at_every_step(bench(name), seed)


@every_game
@few
@any_seed
def test_rules_return_new_states_and_do_not_mutate(name: str, seed: int) -> None:
    rules.rules_return_and_do_not_change(bench(name), seed)


@every_game
@few
@given(seeds=st.lists(st.integers(0, 2**53), min_size=2, max_size=12))
def test_views_have_perfect_recall(name: str, seeds: list[int]) -> None:
    rules.views_remember(bench(name), seeds)


@every_game
def test_forfeits_at_any_point_keep_the_match_consistent(name: str) -> None:
    rules.forfeits_keep_the_match_consistent(bench(name), SEED)


@every_game
def test_match_ends_if_a_seat_only_forfeits(name: str) -> None:
    rules.only_forfeits_come_to_an_end(bench(name))


# --- chance -------------------------------------------------------------------------------------


@every_game
def test_same_seed_same_episode(name: str) -> None:
    rules.same_seed_same_episode(bench(name), SEED)


@every_game
def test_different_seed_gives_different_episode(name: str) -> None:
    rules.another_seed_gives_another_episode(bench(name))


@every_game
def test_probing_changes_no_move(name: str) -> None:
    rules.probing_changes_no_move(bench(name), SEED)


@every_game
def test_deals_do_not_depend_on_the_lineup(name: str) -> None:
    rules.another_lineup_sees_the_same_deals(bench(name), SEED)


# --- the log ------------------------------------------------------------------------------------


@every_game
@few
@any_seed
def test_replay_from_disk_gives_the_same_events_and_payoffs(name: str, seed: int) -> None:
    logs.replay_from_disk_gives_the_same(bench(name), seed)


@every_game
def test_answers_in_any_order_give_the_same_log(name: str) -> None:
    logs.answers_in_any_order_give_the_same_log(bench(name), SEED)


@every_game
def test_asynchronous_driver_gives_the_same_log(name: str) -> None:
    logs.the_asynchronous_driver_gives_the_same_log(bench(name), SEED)


@every_game
def test_wrong_answer_does_not_change_the_match(name: str) -> None:
    logs.a_wrong_answer_leaves_the_match_as_it_was(bench(name))


@every_game
def test_record_censored_at_any_moment_replays(name: str) -> None:
    logs.censoring_at_any_moment_plays_back(bench(name))


# --- words --------------------------------------------------------------------------------------


@every_game
def test_pages_grow_by_appending(name: str) -> None:
    words.pages_grow_by_appending(bench(name))


@every_game
def test_page_states_the_question_and_the_format(name: str) -> None:
    words.a_page_says_what_is_wanted_and_how(bench(name))


@every_game
def test_words_read_back_the_names_they_write(name: str) -> None:
    words.words_read_what_words_name(bench(name), SEED)


@every_game
def test_words_refuse_unclear_replies(name: str) -> None:
    words.words_refuse_what_is_unclear(bench(name))


@every_game
def test_reports_are_read_and_unclear_ones_refused(name: str) -> None:
    words.reports_are_read_and_unclear_ones_refused(bench(name))


@every_game
def test_model_can_answer_every_page(name: str) -> None:
    words.a_model_can_answer_every_page(bench(name))


@every_game
def test_every_strategy_renders_its_prompts(name: str) -> None:
    words.every_strategy_can_ask(bench(name))


@every_game
def test_every_text_has_plain_slots(name: str) -> None:
    words.every_text_has_plain_slots(bench(name))


# --- probes and injection -----------------------------------------------------------------------


@every_game
def test_every_probe_is_asked_answered_and_scored(name: str) -> None:
    probes.every_probe_is_asked_answered_and_scored(bench(name))


@every_game
def test_injections_tell_the_truth(name: str) -> None:
    probes.an_oracle_tells_the_truth(bench(name))


@every_game
def test_injection_is_worded_on_the_page(name: str) -> None:
    probes.a_told_seat_is_told_in_words(bench(name))


@every_game
def test_helpers_have_a_default_occupant(name: str) -> None:
    probes.helpers_have_a_default_occupant(bench(name))


# --- the rooms ----------------------------------------------------------------------------------


@every_game
def test_spec_partners_metrics_card_and_board_pass_their_checks(name: str) -> None:
    current_bench = bench(name)
    results = [testing.run_check(*check) for check in testing.room_checks(current_bench)]
    assert [result for result in results if not result.passed] == []
