"""Codenames at the table: a key that one sees, cards that the other turns over."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from benchmarks.problem_sets.codenames import board
from sally.core.errors import BadInput
from sally.core.match.engine import Match
from sally.core.match.player import Forfeit
from sally.games.association.english import vocabulary
from sally.games.association.lexicon import clue_problem, open_rows, open_words, place
from sally.games.association.minds import Mind, hubness
from sally.games.codenames.card import deaf, one_a_turn
from sally.games.codenames.instances import Problem, frozen
from sally.games.codenames.metrics import _sets
from sally.games.codenames.rules import (
    GIVER,
    GUESSER,
    Clue,
    Codenames,
    GivenClue,
    Guess,
    State,
    Stop,
    Turned,
)
from sally.games.codenames.solver import (
    best_clue,
    best_worth,
    clue_value,
    own_sets,
    ranked_cards,
)
from tests.games.association.tables import match_at, measured, page_of, played, say

WORDS = ["dog", "cat", "piano", "violin", "bread", "storm"]
KEY = ["own", "own", "other", "other", "neutral", "assassin"]
BOARD = {"words": WORDS, "key": KEY}
ASKED = {"giver": ("their_pick", "their_run", "closeness"), "guesser": ("closeness",)}
SPELLER = ("associates", {"kind": "form", "amount": 0.5})


def at_board(key: list[str] | None = None, **options: Any) -> Match:
    params = {"words": WORDS, "key": key or KEY}
    return match_at("codenames", {"boards": 1, "problems": [params], **options})


def test_board_is_won_when_all_own_cards_are_open_with_speed_bonus() -> None:
    match = at_board()
    say(match, "giver", Clue("pet", 2))
    say(match, "guesser", Guess("dog"))
    say(match, "guesser", Guess("cat"))
    assert match.episode().payoffs == {"giver": 4, "guesser": 4}  # two cards, two rivals covered


def test_opening_the_assassin_pays_nothing() -> None:
    match = at_board()
    say(match, "giver", Clue("pet", 2))
    say(match, "guesser", Guess("dog"))
    say(match, "guesser", Guess("storm"))
    assert match.episode().payoffs == {"giver": 0, "guesser": 0}


def test_wrong_card_ends_the_turn_and_the_rival_moves_on() -> None:
    match = at_board()
    say(match, "giver", Clue("meal", 2))
    say(match, "guesser", Guess("bread"))
    assert [turn.seat for turn in match.asks()] == ["giver"]
    assert "The rival team turns over" in page_of(match, "guesser")


def test_rival_wins_when_its_cards_are_open() -> None:
    match = at_board()
    say(match, "giver", Clue("music", 1))
    say(match, "guesser", Guess("piano"))
    assert match.over  # the guesser opened one, the rival the other
    assert match.episode().payoffs == {"giver": 0, "guesser": 0}


def test_guesser_may_stop_after_the_first_card_and_not_before() -> None:
    match = at_board()
    say(match, "giver", Clue("pet", 2))
    assert Stop() not in match.asks()[0].options
    say(match, "guesser", Guess("dog"))
    assert Stop() in match.asks()[0].options


@pytest.mark.parametrize("clue", ["dog", "dogs", "breads", "qwrt", "two words"])
def test_illegal_clue_is_returned_to_giver_with_its_reason(clue: str) -> None:
    match = at_board()
    say(match, "giver", Clue(clue, 1))
    assert [turn.seat for turn in match.asks()] == ["giver"]
    assert "does not count" in page_of(match, "giver")
    assert "does not count" not in page_of(match, "guesser")


def test_forfeited_clue_costs_the_turn() -> None:
    match = at_board()
    match.answer((0, "giver", "", ""), Forfeit("unreadable"))
    assert "No clue was given." in page_of(match, "guesser")
    assert "The rival team turns over" in page_of(match, "guesser")


def test_guesser_cannot_see_the_key() -> None:
    pages = []
    for key in (KEY, [*KEY[2:4], *KEY[:2], *KEY[4:]]):
        match = at_board(key)
        say(match, "giver", Clue("thing", 1))
        pages.append((page_of(match, "giver"), page_of(match, "guesser")))
    assert pages[0][0] != pages[1][0]
    assert pages[0][1] == pages[1][1]


def test_giver_page_does_not_depend_on_guesser_before_a_guess() -> None:
    pages = [
        page_of(match_at("codenames", {}, guesser=("associates", {"kind": kind})), "giver")
        for kind in ("sense", "cosine")
    ]
    assert pages[0] == pages[1]


# --- exact clues and posteriors -------------------------------------------------------------------


def test_no_other_clue_earns_more_than_the_best() -> None:
    for problem in (row[0] for row in frozen("small").rows[:3]):
        colours = dict(zip(problem.words, problem.key, strict=True))
        own_total = sum(colour == "own" for colour in problem.key)
        tried = max(
            clue_value(Mind(), Clue(word, number), colours, problem.words, 0)
            for word in open_words(problem.words)[::3]
            for number in range(1, own_total + 1)
        )
        assert tried <= best_worth(Mind(), colours, problem.words)
        own_words = tuple(word for word in problem.words if colours[word] == "own")
        best = best_clue(Mind(), problem.words, own_words)
        assert clue_value(Mind(), best, colours, problem.words, 0) == best.number
        assert best.number == best_worth(Mind(), colours, problem.words)


def test_every_legal_clue_is_tried_and_no_other() -> None:
    covered = frozen("full").rows[0][0].words
    allowed = [word for word in vocabulary() if clue_problem(word, covered, False) is None]
    assert list(open_words(covered)) == allowed
    assert [vocabulary()[row] for row in open_rows(covered)] == allowed


def test_own_sets_are_those_for_which_giver_says_the_clue() -> None:
    words = tuple(WORDS)
    clue = best_clue(Mind(), words, ("dog", "cat"))
    actual_own_sets = own_sets(Mind(), words, 2, clue.word, clue.number, 99)
    assert frozenset({"dog", "cat"}) in actual_own_sets
    for pair in combinations(words, 2):
        says = best_clue(Mind(), words, pair) == clue
        assert (frozenset(pair) in actual_own_sets) is says


def test_cards_are_ranked_by_closeness_to_the_clue() -> None:
    assert ranked_cards(Mind(), "music", tuple(WORDS))[:2] == ("piano", "violin")
    assert set(ranked_cards(Mind(), "pet", tuple(WORDS))[:2]) == {"dog", "cat"}


# --- partners and measures ------------------------------------------------------------------------


def test_giver_with_same_mind_as_guesser_has_no_regret() -> None:
    match = played("codenames", {"number": 2}, ASKED, giver=SPELLER, guesser=SPELLER)
    for name in ("regret", "inference", "translation"):
        assert measured(match, "giver", f"codenames_{name}") == 0
    assert measured(match, "giver", "codenames_won") == 1


def test_adaptive_giver_loses_less_than_giver_assuming_its_own_mind() -> None:
    lost_fields = {"associates": 0.0, "adapts": 0.0}
    for player in lost_fields:
        for number in range(4):
            params = {"number": number, "boards": 5}
            match = played("codenames", params, giver=(player, {}), guesser=SPELLER)
            lost_fields[player] += measured(match, "giver", "codenames_regret") or 0.0
    assert lost_fields["adapts"] < 0.6 * lost_fields["associates"]


def test_guesser_with_same_mind_has_less_regret_than_random() -> None:
    mind = ("associates", {})
    known_match = played("codenames", {"number": 2}, giver=mind, guesser=mind)
    match = played("codenames", {"number": 2}, giver=mind)
    low, high = (measured(item, "guesser", "codenames_regret") for item in (known_match, match))
    assert low is not None and high is not None
    assert low < 0.2 < high


def test_posterior_conditions_on_every_clue_of_the_board() -> None:
    """Brute force: every set of own cards for which the giver would have given all clues."""
    match = played("codenames", {"number": 2}, giver=("associates", {}))
    game, count = match.replay.game, 0
    for turn, moves in enumerate(match.replay.moves):
        view = match.replay.view(turn, "guesser")
        clues = [n for n, e in enumerate(view.log) if isinstance(e, GivenClue) and n >= view.began]
        if (
            "guesser" not in moves
            or view.clue is None
            or len(clues) < 2
            or len(view.covered_words) > 9
        ):
            continue
        key = dict(zip(view.boards[-1], game.row[len(view.boards) - 1].key, strict=True))
        remaining_total = sum(key[word] == "own" for word in view.covered_words)
        expected = {
            frozenset(chosen)
            for chosen in combinations(view.covered_words, remaining_total)
            if all(would_say(view, n, chosen) for n in clues)
        }
        sets = set(_sets(game, view, Mind(), 99))
        assert sets == expected
        assert frozenset(w for w in view.covered_words if key[w] == "own") in sets
        count += 1
    assert count >= 1


def would_say(view: Any, number: int, chosen: tuple[str, ...]) -> bool:
    turned = {e.word: e.colour for e in view.log[number:] if isinstance(e, Turned)}
    laid = tuple(w for w in view.boards[-1] if w in view.covered_words or w in turned)
    own = tuple(w for w in laid if w in chosen or turned.get(w) == "own")
    reply_clue = best_clue(Mind(), laid, own)
    clue = view.log[number]
    return (reply_clue.word, max(reply_clue.number, 1)) == (clue.word, clue.number)


def test_giver_predicts_a_guesser_with_the_same_mind() -> None:
    match = played(
        "codenames", {"number": 2}, ASKED, giver=("associates", {}), guesser=("associates", {})
    )
    for report in match.replay.reports.values():
        if report.probe == "their_run":
            state = match.replay.state(report.turn)
            move: Any = match.replay.moves[report.turn]["giver"]  # type: ignore[index]
            assert report.value == move.number
            assert state.clue is None


# --- frozen sets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["small", "full"])
def test_own_cards_have_the_same_mean_hubness_as_all_cards(name: str) -> None:
    own_values, every = [], []
    for row in frozen(name).rows:
        for problem in row:
            near_tie = hubness()[[place(word) for word in problem.words]]
            own_values += list(near_tie[[colour == "own" for colour in problem.key]])
            every += list(near_tie)
    assert abs(np.mean(own_values) - np.mean(every)) < 0.05 * np.std(every)


@pytest.mark.parametrize("name", ["small", "full"])
def test_frozen_board_equals_generator_output(name: str) -> None:
    assert board(name, frozen(name).seed, 7, 1) == frozen(name).rows[7][1]


def test_own_cards_are_spread_evenly_over_board_positions() -> None:
    keys = [problem.key for row in frozen("small").rows for problem in row]
    shares = np.array([[colour == "own" for colour in key] for key in keys]).mean(axis=0)
    assert np.all(np.abs(shares - 5 / 12) < 0.08)


@pytest.mark.parametrize(
    "params",
    [
        {"boards": 0},
        {"set": "huge"},
        {"number": -1},
        {"problems": [{"words": ["dog"], "key": ["own"]}], "boards": 1},
        {"problems": [{"words": ["dog", "dog"], "key": ["own", "other"]}], "boards": 1},
        {"problems": [{"words": ["dog", "qwrt"], "key": ["own", "other"]}], "boards": 1},
    ],
)
def test_invalid_boards_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        match_at("codenames", params)


def mean_of_all_ways(game: Codenames, state: State) -> float:
    """The mean points if every card a guesser may turn over is as likely as any other."""
    if state.board == game.boards:
        return game.payoffs(state)[GUESSER]
    (seat,) = game.to_move(state)
    moves = (Clue("ocean", 1),) if seat == GIVER else game.options(state, seat)
    next_states = [mean_of_all_ways(game, game.step(state, {seat: move})) for move in moves]
    return sum(next_states) / len(next_states)


@pytest.mark.parametrize(
    "key", [KEY, ["own", "other", "other", "other", "neutral", "assassin"]], ids=["even", "easy"]
)
def test_guesser_ignoring_clues_earns_the_mean_over_all_guesses(
    key: list[Any],
) -> None:
    game = Codenames(boards=1, problems=(Problem(tuple(WORDS), tuple(key)),))
    counts = [key.count(colour) for colour in ("own", "other", "neutral")]
    assert one_a_turn(*counts) == pytest.approx(mean_of_all_ways(game, game.start()))


def test_random_points_are_equal_on_every_small_board() -> None:
    keys = {tuple(sorted(board.key)) for row in frozen("small").rows for board in row}
    assert len(keys) == 1
    assert deaf()["codenames_points"] == pytest.approx(1.09375)  # 35/32
