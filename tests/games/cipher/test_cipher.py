"""Cipher at the table: rules, secrets, listeners, measures, and frozen games."""

from __future__ import annotations

from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest

from benchmarks.problem_sets.cipher import GAMES, ROWS, is_certified, plain, which
from sally.core.errors import BadInput, Unreadable
from sally.core.match.engine import Match
from sally.core.match.player import Forfeit
from sally.core.registry import registry
from sally.core.rules.game import NATURE, Seat
from sally.games.association.lexicon import open_words
from sally.games.association.minds import Mind
from sally.games.cipher.decisions import COSTS, LOSSES, position_of
from sally.games.cipher.instances import frozen
from sally.games.cipher.listeners import (
    CODES,
    Listener,
    best_hints,
    digits,
    listener_odds,
    value_hints,
)
from sally.games.cipher.metrics import scored_hints, splits
from sally.games.cipher.partners import MENUS, likelihood, listener_belief
from sally.games.cipher.rules import (
    DECODER,
    ENCODER,
    INTERCEPTOR,
    Cipher,
    Hints,
    Over,
    Revealed,
    State,
    Void,
)
from sally.games.cipher.words import TEXTS, CipherWords
from tests.games.association.tables import match_at, measured, page_of, played, say

WORDS = ["apple", "bridge", "doctor", "piano"]
GAME = {"keywords": WORDS, "codes": [421, 132, 341]}
CLEAR = Hints("instrument", "crossing", "blackberry")
TEAM = {"decoder": ("by_keywords", {}), "interceptor": ("by_history", {})}


def at_game(problem: dict[str, Any] | None = None, **options: Any) -> Match:
    return match_at("cipher", {"games": 1, "problems": [problem or GAME], **options})


def a_round(match: Match, hints: Hints, decoder: int, interceptor: int) -> None:
    say(match, "encoder", hints)
    say(match, "decoder", decoder)
    say(match, "interceptor", interceptor)


def log_of(match: Match) -> tuple[Any, ...]:
    log: tuple[Any, ...] = match.state.log
    return log


# --- rules ----------------------------------------------------------------------------------------


def test_two_wrong_guesses_of_the_decoder_lose() -> None:
    match = at_game()
    a_round(match, CLEAR, 123, 124)
    a_round(match, CLEAR, 124, 143)
    assert log_of(match)[-1] == Over("miscommunication")
    assert match.episode().payoffs == {"encoder": -1, "decoder": -1, "interceptor": 1}


def test_two_right_guesses_of_the_interceptor_lose() -> None:
    match = at_game()
    a_round(match, CLEAR, 421, 421)
    a_round(match, CLEAR, 132, 132)
    assert log_of(match)[-1] == Over("interception")


def test_both_token_limits_can_be_reached_in_the_same_round() -> None:
    match = at_game()
    a_round(match, CLEAR, 123, 421)
    a_round(match, CLEAR, 123, 132)
    assert log_of(match)[-1] == Over("both")


def test_team_wins_the_last_round() -> None:
    match = at_game(rounds=2)
    a_round(match, CLEAR, 421, 123)
    a_round(match, CLEAR, 132, 123)
    assert match.over
    assert match.episode().payoffs == {"encoder": 1, "decoder": 1, "interceptor": -1}


def test_code_is_drawn_once_and_removed_from_the_guesses() -> None:
    match = at_game()
    a_round(match, CLEAR, 421, 123)
    say(match, "encoder", CLEAR)
    (turn, _) = match.asks()
    assert 421 not in turn.options
    assert len(turn.options) == 23
    game, codes = Cipher(), list(CODES)
    state = State(log=(Void(codes[0]), Void(codes[1])))
    assert set(game.odds(state)) == set(codes[2:])
    assert sum(game.odds(state).values()) == pytest.approx(1)


def test_round_without_hints_is_void_and_shows_its_code() -> None:
    match = at_game()
    match.answer((match.turn, "encoder", "", ""), Forfeit("unreadable"))
    assert log_of(match) == (Void(421),)
    for seat in ("decoder", "interceptor"):
        assert "Round 1 is void" in page_of(match, seat)
        assert "4-2-1" in page_of(match, seat)
    assert match.game.record(match.state).played == 0


def test_encoder_cannot_win_by_silence() -> None:
    match = at_game()
    for _ in range(3):
        match.answer((match.turn, "encoder", "", ""), Forfeit("unreadable"))
    assert match.over
    assert "3 rounds in a row were void" in str(match.episode().events[-1])


def test_game_without_enough_codes_left_is_censored() -> None:
    game = Cipher(games=1, rounds=8, void_limit=24)
    void = tuple(Void(code) for code in CODES)
    assert game.censored(State(log=void[:16])) is None
    assert "too few" in (game.censored(State(log=void[:17])) or "")


def test_missing_guess_counts_as_wrong() -> None:
    match = at_game()
    say(match, "encoder", CLEAR)
    match.answer((match.turn, "decoder", "", ""), Forfeit("unreadable"))
    match.answer((match.turn, "interceptor", "", ""), Forfeit("unreadable"))
    assert log_of(match)[-1] == Revealed(421, 0, 0)
    record = match.game.record(match.state)
    assert (record.miscommunications, record.interceptions) == (1, 0)


@pytest.mark.parametrize("hint", ["apple", "apples", "pianist", "qwrt"])
def test_illegal_hint_is_returned_to_encoder_with_its_reason(hint: str) -> None:
    match = at_game()
    say(match, "encoder", Hints("instrument", "crossing", hint))
    assert [turn.seat for turn in match.asks()] == ["encoder"]
    assert "do not count" in page_of(match, "encoder")
    assert "do not count" not in page_of(match, "decoder")


def test_rounds_before_a_game_are_public_and_their_codes_are_used_up() -> None:
    past = [{"code": 421, "hints": list(CLEAR.words)}]
    match = at_game({"keywords": WORDS, "past": past, "codes": [132]}, rounds=2)
    assert "instrument" in page_of(match, "interceptor")
    assert match.game.record(match.state).filed[3] == ("instrument",)
    say(match, "encoder", CLEAR)
    assert 421 not in match.asks()[0].options


@pytest.mark.parametrize(
    "params",
    [
        {"games": 0},
        {"games": 5},
        {"set": "huge"},
        {"number": 100},
        {"rounds": 0},
        {"rounds": 25},
        {"tokens": 0},
        {"void_limit": 0},
        {"set": "which", "rounds": 22},
        {"told": "telepathy"},
        {"channel": [[0.5, 0.5, 0.5, 0.5]]},
        {"channel": [[2, -1, 0, 0]]},
        {"problems": [{"keywords": ["apple", "bridge", "doctor", "qwrt"]}], "games": 1},
        {"problems": [{"keywords": ["apple", "apple", "doctor", "piano"]}], "games": 1},
        {"problems": [{"keywords": WORDS, "codes": [421, 421]}], "games": 1},
        {"problems": [{"keywords": WORDS, "codes": [411]}], "games": 1},
        {
            "problems": [
                {"keywords": WORDS, "past": [{"code": 123, "hints": ["apples", "b", "c"]}]}
            ],
            "games": 1,
        },
    ],
    ids=str,
)
def test_invalid_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        match_at("cipher", params)


@pytest.mark.parametrize(
    ("seat", "player", "params"),
    [
        ("encoder", "by_history", {}),
        ("decoder", "crossing", {}),
        ("interceptor", "by_keywords", {}),
        ("encoder", "crossing", {"against": "telepathy"}),
        ("encoder", "crossing", {"width": 0}),
        ("encoder", "nearest", {"kind": "dreams"}),
        ("interceptor", "channel", {}),
    ],
)
def test_players_that_do_not_fit_are_refused(seat: str, player: str, params: Any) -> None:
    with pytest.raises(BadInput):
        played("cipher", {"games": 1}, None, **{seat: (player, params)})


# --- words ----------------------------------------------------------------------------------------


def read(seat: str, reply: str) -> Any:
    match = at_game()
    if seat != "encoder":
        say(match, "encoder", CLEAR)
    view = match.game.observe(match.state, Seat(seat))
    options = match.game.options(match.state, Seat(seat))
    return CipherWords(match.game, TEXTS).read(reply, view, options)


@pytest.mark.parametrize("reply", ["Answer: 4-2-1", "Answer: 421", "I think so.\nAnswer: 4, 2, 1"])
def test_codes_are_read_however_their_digits_are_separated(reply: str) -> None:
    assert read("decoder", reply) == 421


@pytest.mark.parametrize(
    "reply", ["Hints: key, road, pie", 'Hints: "key"; "road"; "pie"', "**Hints:** key, road, pie."]
)
def test_hints_are_read(reply: str) -> None:
    assert read("encoder", reply) == Hints("key", "road", "pie")


@pytest.mark.parametrize(
    ("seat", "reply"),
    [
        ("encoder", "Hints: key, road"),
        ("encoder", "Hints: key, road, pie, sea"),
        ("encoder", "Hints: <word>, <word>, <word>"),
        ("encoder", "Hints: key, the long road, pie"),
        ("encoder", "key, road, pie"),
        ("decoder", "Answer: 4-1-1"),
        ("decoder", "Answer: 42"),
        ("decoder", "Answer: 4215"),
    ],
)
def test_unclear_reply_is_refused(seat: str, reply: str) -> None:
    with pytest.raises(Unreadable):
        read(seat, reply)


# --- secrets --------------------------------------------------------------------------------------


def pages(problem: dict[str, Any], **options: Any) -> dict[str, str]:
    match = at_game(problem, **options)
    say(match, "encoder", CLEAR)
    return {seat: page_of(match, seat) for seat in ("encoder", "decoder", "interceptor")}


def test_interceptor_cannot_see_the_keywords() -> None:
    single_pages = pages(GAME)
    other_pages = pages({**GAME, "keywords": ["banana", "tunnel", "nurse", "violin"]})
    assert single_pages["decoder"] != other_pages["decoder"]
    assert single_pages["interceptor"] == other_pages["interceptor"]


def test_only_the_encoder_sees_the_code() -> None:
    single_pages, other_pages = pages(GAME), pages({**GAME, "codes": [123, 132, 341]})
    assert single_pages["encoder"] != other_pages["encoder"]
    assert single_pages["decoder"] == other_pages["decoder"]
    assert single_pages["interceptor"] == other_pages["interceptor"]


@pytest.mark.parametrize(
    ("mover", "other"), [("decoder", "interceptor"), ("interceptor", "decoder")]
)
def test_guess_is_unseen_until_both_have_guessed(mover: str, other: str) -> None:
    match = at_game()
    say(match, "encoder", CLEAR)
    page_before = page_of(match, other)
    say(match, mover, 421)
    assert page_of(match, other) == page_before


def test_encoder_page_does_not_depend_on_interceptor_before_guesses() -> None:
    both_matches = [
        match_at("cipher", {}, interceptor=(player_name, {}))
        for player_name in ("by_history", "by_bayes")
    ]
    shown_pages = {page_of(match, "encoder") for match in both_matches}
    assert len(shown_pages) == 1


def test_information_for_encoder_is_only_on_its_page() -> None:
    single_pages, other_pages = pages(GAME), pages(GAME, told="bayes")
    assert single_pages["encoder"] != other_pages["encoder"]
    assert single_pages["decoder"] == other_pages["decoder"]
    assert single_pages["interceptor"] == other_pages["interceptor"]


def test_channel_reading_is_visible_only_to_the_interceptor() -> None:
    game = Cipher(games=1, channel=((0.0, 0.0, 0.0, 1.0),))
    state = game.step(game.start(), {NATURE: 421})
    observation = [game.step(state, {NATURE: reading}) for reading in (421, 123)]
    for seat in (ENCODER, DECODER):
        assert game.observe(observation[0], seat) == game.observe(observation[1], seat)
    assert game.observe(observation[0], INTERCEPTOR) != game.observe(observation[1], INTERCEPTOR)


def test_keyword_probes_do_not_put_keywords_into_the_interceptors_view() -> None:
    match = played(
        "cipher",
        {"games": 1},
        {"interceptor": ("keyword", "keyword_before", "keyword_of_another")},
        encoder=("nearest", {}),
        **TEAM,
    )
    words = match.replay.game.row[0].keywords
    for turn in range(len(match.replay)):
        view = match.replay.view(turn, INTERCEPTOR)
        assert not any(word in str(view) for word in words)
    about = [event.about for event in match.episode.events if hasattr(event, "about")]
    assert any(words[0] in item for item in about)


# --- listeners and encoders -----------------------------------------------------------------------


def test_interceptor_odds_are_uniform_in_the_first_round() -> None:
    empty = ((), (), (), ())
    for kind in ("history", "bayes", "blind"):
        odds = listener_odds(Listener(kind), empty, CLEAR.words, CODES)  # type: ignore[arg-type]
        assert odds == pytest.approx(np.full(24, 1 / 24))


def test_best_hints_have_the_highest_value_in_the_set() -> None:
    position = position_of(frozen("which").rows[0][0])
    best = best_hints(Mind(), Listener("history"), position, 4)
    words = [MENUS["top16"](Mind(), position, digit)[:4] for digit in digits(position.code)]
    tried = [
        value_hints(Mind(), Listener("history"), position, (a, b, c)).value
        for a in words[0]
        for b in words[1]
        for c in words[2]
    ]
    assert best.hint_value.value == pytest.approx(max(tried))
    assert best.hint_value.value == pytest.approx(
        value_hints(Mind(), Listener("history"), position, best.hints).value
    )


def test_chances_of_a_declared_encoders_hints_sum_to_one() -> None:
    position = position_of(frozen("which").rows[0][0])
    first, second, third = (
        MENUS["top16"](Mind(), position, digit) for digit in digits(position.code)
    )
    words = list(product(first, second, third))
    assert len(words) == 16**3
    for hints in words[::100]:
        assert likelihood("top16", {}, position, hints) == pytest.approx(1 / len(words))
    assert likelihood("top16", {}, position, (first[0], second[0], "rest")) == 0
    best = best_hints(Mind(), Listener("history"), position).hints
    assert likelihood("crossing", {}, position, best) == 1
    assert likelihood("crossing", {"against": "bayes"}, position, best) == 0
    assert likelihood("language", {}, position, best) is None


def test_every_hint_of_every_encoder_is_legal() -> None:
    for name in (*MENUS, "crossing", "adapts"):
        match = played("cipher", {"games": 1, "rounds": 3}, None, encoder=(name, {}), **TEAM)
        legal = open_words(match.replay.game.row[0].keywords)
        replies = [m[ENCODER] for m in match.replay.moves if ENCODER in m]
        assert replies
        assert all(word in legal for hints in replies for word in hints.words)


def test_words_outside_the_list_are_allowed_with_any_word() -> None:
    match = at_game(any_word=True)
    say(match, "encoder", Hints("instrumentation", "crossing", "blackberry"))
    assert [turn.seat for turn in match.asks()] == ["decoder", "interceptor"]


def test_encoder_with_right_listener_model_wins_more_than_clear_encoder() -> None:
    won: dict[str, float] = {}
    for name, params in (("nearest", {}), ("crossing", {}), ("crossing", {"against": "bayes"})):
        runs = [
            played("cipher", {"number": n}, None, encoder=(name, params), **TEAM) for n in range(3)
        ]
        shares = [measured(run, "encoder", "cipher_won") or 0.0 for run in runs]
        won[f"{name} {params.get('against', '')}".strip()] = sum(shares) / len(shares)
    assert won["nearest"] == 0
    assert won["crossing"] > 0.5
    assert won["crossing bayes"] < won["crossing"]


@pytest.mark.parametrize("interceptor", ["by_history", "by_bayes"])
def test_adaptive_encoder_identifies_the_interceptors_method(interceptor: str) -> None:
    match = played(
        "cipher",
        {"number": 5},
        None,
        encoder=("adapts", {}),
        decoder=("by_keywords", {}),
        interceptor=(interceptor, {}),
    )
    belief = listener_belief(match.replay.view(len(match.replay) - 1, ENCODER))
    kind = {"by_history": 0, "by_bayes": 1}[interceptor]
    assert int(np.argmax(belief)) == kind
    assert belief[kind] > 0.9


# --- measures -------------------------------------------------------------------------------------

EVERYTHING = {
    "encoder": ("their_guess", "listener"),
    "decoder": ("rival_guess", "code", "expected_guess"),
    "interceptor": ("keyword", "keyword_before", "keyword_of_another", "code"),
}


def test_hint_regret_is_the_sum_of_clarity_and_secrecy_lost() -> None:
    for name in ("nearest", "anything", "decoy", "crossing"):
        match = played("cipher", {"games": 2}, None, encoder=(name, {}), **TEAM)
        for hint_score in scored_hints(match, ENCODER):
            assert hint_score.regret >= 0
            assert hint_score.clarity + hint_score.secrecy == pytest.approx(hint_score.regret)
        names = ("cipher_clarity_lost", "cipher_secrecy_lost")
        lost_values = [measured(match, "encoder", name) or 0.0 for name in names]
        assert sum(lost_values) == pytest.approx(
            measured(match, "encoder", "cipher_hint_regret") or 0.0
        )


def test_clear_hints_lose_secrecy_and_random_ones_lose_clarity() -> None:
    clear = played("cipher", {}, None, encoder=("nearest", {}), **TEAM)
    vague = played("cipher", {}, None, encoder=("anything", {}), **TEAM)
    assert (measured(clear, "encoder", "cipher_secrecy_lost") or 0) > 0.2
    assert abs(measured(clear, "encoder", "cipher_clarity_lost") or 0) < 0.05
    assert (measured(vague, "encoder", "cipher_clarity_lost") or 0) > 0.5


def test_wrong_listener_model_costs_inference_and_not_play() -> None:
    lost_fields = {}
    for against in ("history", "bayes"):
        encoder = ("crossing", {"against": against})
        match = played("cipher", {"set": "which", "rounds": 1}, None, encoder=encoder, **TEAM)
        lost_fields[against] = LOSSES(match, ENCODER)
        assert all(split.play < 1e-9 for split in splits(match, ENCODER))
    assert lost_fields["history"].inference == pytest.approx(0)
    assert (lost_fields["bayes"].inference or 0) > 0.4


def test_encoder_report_takes_precedence_over_what_it_was_told() -> None:
    params = {"set": "which", "rounds": 1, "told": "bayes"}
    match = played("cipher", params, None, encoder=("nearest", {}), **TEAM)
    asked_match = played("cipher", params, EVERYTHING, encoder=("crossing", {}), **TEAM)
    assert (LOSSES(match, ENCODER).inference or 0) > 0.4
    assert LOSSES(asked_match, ENCODER).inference == pytest.approx(0)


def test_costs_name_the_best_move_and_sum_to_the_regret() -> None:
    match = played("cipher", {"games": 1}, None, encoder=("nearest", {}), **TEAM)
    costs = COSTS(match, ENCODER)
    assert costs
    mean = sum(cost.loss for cost in costs) / len(costs)
    assert mean == pytest.approx(measured(match, "encoder", "cipher_hint_regret") or 0.0)
    assert all(isinstance(cost.best[0], Hints) for cost in costs)
    for seat in (DECODER, INTERCEPTOR):
        assert all(cost.loss >= 0 and cost.best for cost in COSTS(match, seat))


def test_decoder_that_knows_the_encoder_has_no_guess_regret_with_clear_hints() -> None:
    match = played("cipher", {"games": 2}, None, encoder=("nearest", {}), **TEAM)
    assert (measured(match, "decoder", "cipher_guess_regret") or 0) < 0.1
    deaf = played("cipher", {"games": 2}, None, encoder=("nearest", {}), decoder=("first_left", {}))
    assert (measured(deaf, "decoder", "cipher_guess_regret") or 0) > 0.5


def test_encoder_predicts_guesses_of_modelled_listeners() -> None:
    match = played("cipher", {}, EVERYTHING, encoder=("crossing", {}), **TEAM)
    assert measured(match, "encoder", "cipher_foreseen_published") == 1
    expects = measured(match, "encoder", "cipher_expects_interception")
    assert expects == measured(match, "encoder", "cipher_intercepted")


def test_interceptor_with_kept_belief_passes_the_published_tests() -> None:
    match = played("cipher", {}, EVERYTHING, encoder=("crossing", {}), **TEAM)
    for name in ("strong", "weak", "consistent", "strong_of_another", "weak_of_another"):
        assert measured(match, "interceptor", f"cipher_{name}_published") == 1
    assert measured(match, "interceptor", "cipher_belief_kept") == 1
    assert 0 <= (measured(match, "interceptor", "cipher_keyword_right") or 0) < 1


def test_channel_accuracy_matches_setting_whatever_the_hints() -> None:
    chances = (0.1, 0.2, 0.3, 0.4)
    game = Cipher(games=1, channel=(chances,))
    odds = game.odds(game.step(game.start(), {NATURE: 421}))
    for right, chance in enumerate(chances):
        alike = [p for code, p in odds.items() if right == _places_right(code, 421)]
        assert sum(alike) == pytest.approx(chance)
    read = []
    for encoder in ("nearest", "anything"):
        lineup = {"encoder": (encoder, {}), "decoder": ("by_keywords", {})}
        params = {"channel": [list(chances)], "games": 1}
        match = played("cipher", params, None, interceptor=("channel", {}), **lineup)
        read.append(match.replay.states[-1].readings[:2])
    assert read[0] == read[1]


def _places_right(code: Any, true: int) -> int:
    return sum(a == b for a, b in zip(str(code), str(true), strict=True))


def test_every_metric_of_every_seat_stays_within_its_bounds() -> None:
    match = played("cipher", {"games": 2}, EVERYTHING, encoder=("top16", {}), **TEAM)
    count = 0
    for metric in registry.metrics("cipher").values():
        for seat in (ENCODER, DECODER, INTERCEPTOR):
            value = metric.measure(match, seat)
            if value is not None and metric.ends is not None:
                low, high = metric.ends
                assert low - 1e-9 <= value <= high + 1e-9, metric.name
                count += 1
    assert count > 30


# --- frozen games ---------------------------------------------------------------------------------


def test_frozen_games_equal_generator_output() -> None:
    assert plain(frozen("plain").seed, 7, 1) == frozen("plain").rows[7][1]
    assert which(frozen("which").seed, 0, 0) == frozen("which").rows[0][0]


@pytest.mark.parametrize("name", ["plain", "which"])
def test_frozen_rows_share_no_games(name: str) -> None:
    rows = frozen(name).rows
    assert [len(row) for row in rows] == [GAMES] * ROWS[name]
    all_problems = [problem for row in rows for problem in row]
    assert len({msgspec.json.encode(problem) for problem in all_problems}) == len(all_problems)


def test_certified_decisions_need_a_model_of_the_interceptor() -> None:
    for row in frozen("which").rows[::5]:
        for problem in row:
            assert is_certified(problem)


def test_no_code_dominates_the_certified_set() -> None:
    codes = [problem.codes[0] for row in frozen("which").rows for problem in row]
    max_count = max(codes.count(code) for code in CODES)
    assert max_count <= 20  # of 200 in 24 codes, 8.3 each on average
