"""Taboo at the table: hints for a word that the other does not see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.problem_sets.taboo import problem_of
from sally.core.errors import BadInput
from sally.core.match.player import Forfeit
from sally.games.association.lexicon import cards, open_words, place
from sally.games.association.minds import Mind, hubness
from sally.games.taboo.instances import Problem, frozen
from sally.games.taboo.rules import Guess, Hint, hidden, is_right
from sally.games.taboo.solver import best_hint, guess, points_with_hint
from tests.games.association.tables import match_at, measured, page_of, played, say

DUCK = {"target": "duck", "banned": ["goose", "bird"]}
SWAN = {"target": "swan", "banned": ["river", "white"]}
ASKED = {"giver": ("their_guess", "will_find", "closeness"), "guesser": ("closeness",)}
SPELLER = ("associates", {"kind": "form", "amount": 0.5})


def one_round(problem: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"rounds": 1, "problems": [problem], **options}


@pytest.mark.parametrize(("misses", "points"), [(0, 5), (1, 4), (4, 1), (5, 0)])
def test_every_hint_costs_a_point(misses: int, points: int) -> None:
    match = match_at("taboo", one_round(DUCK))
    for hint in ("pond", "feather", "farm", "bread", "water")[: misses + 1]:
        say(match, "giver", Hint(hint))
        result = len(match.state.now.tries) == misses
        say(match, "guesser", Guess("ducks" if result else "pizza"))
    assert match.episode().payoffs == {"giver": points, "guesser": points}


@pytest.mark.parametrize(
    ("hint", "why"),
    [
        ("goose", "is banned"),
        ("ducks", "too close"),
        ("birds", "too close"),
        ("two words", "written in letters"),
    ],
)
def test_illegal_hint_is_returned_to_giver_with_its_reason(hint: str, why: str) -> None:
    match = match_at("taboo", one_round(DUCK))
    say(match, "giver", Hint(hint))
    assert [turn.seat for turn in match.asks()] == ["giver"]
    assert why in page_of(match, "giver")
    assert why not in page_of(match, "guesser")


def test_hint_cannot_be_repeated() -> None:
    match = match_at("taboo", one_round(DUCK))
    for _ in range(2):
        say(match, "giver", Hint("pond"))
        if match.state.hint:
            say(match, "guesser", Guess("pizza"))
    assert "already" in page_of(match, "giver")


def test_guesser_page_hides_word_and_banned_words() -> None:
    pages = []
    for problem in (DUCK, SWAN):
        match = match_at("taboo", one_round(problem))
        say(match, "giver", Hint("pond"))
        pages.append((page_of(match, "giver"), page_of(match, "guesser")))
    assert pages[0][0] != pages[1][0]
    assert pages[0][1] == pages[1][1]


def test_forfeited_hint_is_used_up() -> None:
    match = match_at("taboo", one_round(DUCK, hints=2))
    match.answer((0, "giver", "", ""), Forfeit("unreadable"))
    assert len(match.state.now.tries) == 1
    say(match, "giver", Hint("pond"))
    say(match, "guesser", Guess("duck"))
    assert match.episode().payoffs == {"giver": 1, "guesser": 1}


def test_cue_answers_before_play_are_shown_to_both_seats() -> None:
    match = match_at("taboo", {"rounds": 1, "cues": 3})
    game: Any = match.game
    for cue in game.cue_words:
        say(match, "guesser", Guess(guess(Mind(), (), cue)))
    for seat in ("giver", "guesser"):
        assert all(
            f"'{cue}' made the guesser think of" in page_of(match, seat) for cue in game.cue_words
        )
    assert not set(game.cue_words) & set(cards())


# --- minds ----------------------------------------------------------------------------------------


def test_best_first_hint_succeeds_if_any_hint_does() -> None:
    for target in ("abbey", "acorn", "dog"):
        problem = problem_of(target)
        hint, solution = best_hint(Mind(), problem)
        tried = [guess(Mind(), (), word) == target for word in open_words(hidden(problem))]
        assert any(tried) is solution
        assert not solution or guess(Mind(), (), hint) == target


def test_guesser_does_not_name_a_word_again() -> None:
    first = guess(Mind(), (), "pond")
    assert guess(Mind(), (("pond", first),), "feather") != first


@pytest.mark.parametrize(
    ("mind", "hint", "names"), [(Mind(), "puppy", "dog"), (Mind("form", 0.5), "puppy", "puppet")]
)
def test_guesses_follow_the_declared_mind(mind: Mind, hint: str, names: str) -> None:
    assert guess(mind, (), hint) == names


def test_giver_with_same_mind_as_guesser_has_no_regret() -> None:
    match = played("taboo", {"number": 1}, ASKED, giver=SPELLER, guesser=SPELLER)
    assert measured(match, "giver", "taboo_regret") == 0
    assert measured(match, "giver", "taboo_inference") == 0


def test_adaptive_giver_loses_less_than_giver_assuming_its_own_mind() -> None:
    plain, learner = (
        played("taboo", {"number": 1}, ASKED, giver=(player_name, {}), guesser=SPELLER)
        for player_name in ("associates", "adapts")
    )
    lost_values = [measured(item, "giver", "taboo_regret") or 0.0 for item in (learner, plain)]
    assert lost_values[0] < 0.5 * lost_values[1]
    assert (measured(plain, "giver", "taboo_inference") or 0) > 0.3


def test_two_hints_always_suffice() -> None:
    for problem in map(problem_of, cards()[::90]):
        assert points_with_hint(Mind(), problem, (), best_hint(Mind(), problem)[0], 5) in (5, 4)


# --- the frozen set -------------------------------------------------------------------------------


def test_every_frozen_target_can_be_found_with_one_hint() -> None:
    for row in frozen("balanced").rows[::25]:
        assert all(best_hint(Mind(), problem)[1] for problem in row)


def test_every_row_has_two_targets_of_every_level_of_hubness() -> None:
    near_values = [
        sorted(float(hubness()[place(problem.target)]) for problem in row)
        for row in frozen("balanced").rows
    ]
    spread = np.array(near_values).mean(axis=0)
    assert np.all(np.diff(spread[::2]) > 0)
    assert len({problem for row in frozen("balanced").rows for problem in row}) > 400


def test_plurals_are_right_and_other_forms_are_not() -> None:
    assert is_right("berry", "berries") and is_right("fox", "Foxes")
    assert not is_right("fox", "foxy")


@pytest.mark.parametrize("params", [{"hints": 0}, {"cues": 21}, {"rounds": 11}, {"set": "?"}])
def test_invalid_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        match_at("taboo", params)


def test_target_must_be_on_the_list() -> None:
    with pytest.raises(BadInput, match="not on the word list"):
        match_at("taboo", {"rounds": 1, "problems": [Problem("xylograph", ())]})
