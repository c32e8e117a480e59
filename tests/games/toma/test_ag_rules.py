"""The ambiguity game: which clues are legal, what a guess is worth, and the hundred words."""

import pytest
from hypothesis import given

from sally.games.association.english import forms, vocabulary, words_of
from sally.games.toma.ag.rules import Item, is_right, items, judge, objection, outcome
from tests.fixtures.any_text import any_text

BANK = Item("bank", "edge of a river", "keeps your savings")
BAT = Item("bat", "flying night mammal", "used to hit in cricket")
MOUSE = Item("mouse", "squeaking rodent", "moves the pointer", ("mice",))
FLY = Item("fly", "buzzing insect", "travel by air", ("flew", "flown"))
MINE = Item("mine", "where coal is dug", "belongs to me")


@pytest.mark.parametrize(
    ("item", "clue"),
    [
        (BANK, "bank"),
        (BANK, "The BANK, of course"),
        (BANK, "It's a bank's job"),
        (BANK, "two banks"),
        (BANK, "an overnight banker"),
        (BANK, "by the riverbank"),
        (BANK, "a banknote"),
        (Item("ball", "round toy", "formal evening of dancing"), "baseball"),
        (BANK, "the bank\u2019s roof"),
        (FLY, "butterfly"),
        (BANK, "b-a-n-k"),
        (BANK, "say b a n k aloud"),
        (BANK, "bánk"),
        (BAT, "batting average"),
        (BAT, "a vampire-bat"),
        (MOUSE, "three blind mice"),
        (FLY, "it flies"),
        (FLY, "a flying thing"),
        (FLY, "up it flew"),
        (MINE, "mining town"),
        (MINE, "miners"),
    ],
)
def test_clue_may_not_contain_any_form_of_the_word(item: Item, clue: str) -> None:
    assert "contains the word to be guessed" in (objection(item, clue) or "")


@pytest.mark.parametrize(
    ("item", "clue"),
    [
        (BANK, "the water's side"),
        (BANK, "money"),
        (BANK, "ban"),
        (BAT, "bath"),
        (BAT, "combat"),
        (Item("nail", "hit with a hammer", "hard tip of a finger"), "snail"),
        (Item("star", "shines at night", "famous actor"), "start"),
        (MOUSE, "mousse"),
        (MINE, "mint"),
        (MINE, "I saw a minus"),
        (BANK, BANK.b_hint),
    ],
)
def test_clue_may_contain_other_words(item: Item, clue: str) -> None:
    assert objection(item, clue) is None


@pytest.mark.parametrize("clue", ["", "  ", "?!"])
def test_clue_must_contain_a_word(clue: str) -> None:
    assert objection(BANK, clue) == "The clue has no words; say at least one."


@pytest.mark.parametrize(
    ("guess", "right"),
    [
        ("bank", True),
        ("Bank.", True),
        ("a bank", True),
        ("The banks", True),
        ("'bank'", True),
        ("banking", False),
        ("river bank", False),
        ("shore", False),
        ("", False),
        ("bank or shore", False),
    ],
)
def test_guess_is_right_only_if_it_is_exactly_the_word(guess: str, right: bool) -> None:
    assert is_right(BANK, guess) is right


def test_four_outcomes() -> None:
    assert judge(BANK, "bank", "vault") == "win"
    assert judge(BANK, "bank", "bank") == "leak"
    assert judge(BANK, "shore", "bank") == "loss"
    assert judge(BANK, "shore", "vault") == "miss"
    assert {outcome(b, c) for b in (True, False) for c in (True, False)} == {
        "win",
        "leak",
        "loss",
        "miss",
    }


def test_regular_forms() -> None:
    assert {"bat", "bats", "batted", "batting", "batter"} <= forms("bat")
    assert {"fly", "flies", "flier", "flying"} <= forms("fly")
    assert {"mine", "mines", "mined", "mining", "miner"} <= forms("mine")
    assert {"boxes", "boxing"} <= forms("box")
    assert "boxxing" not in forms("box")


@given(any_text(max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    assert all(word.isascii() and word == word.lower() for word in words_of(text))


def test_hundred_words_have_two_legal_disjoint_hints() -> None:
    assert len(items()) == 100
    assert len({item.word for item in items()}) == 100
    for item in items():
        for hint in (item.b_hint, item.c_hint):
            assert objection(item, hint) is None, item
        assert not set(words_of(item.b_hint)) & set(words_of(item.c_hint)) - SMALL, item


SMALL = {"a", "an", "and", "the", "of", "in", "on", "for", "with", "to", "by", "at", "your"}


def test_example_of_the_paper_is_not_in_the_item_set() -> None:
    assert "charge" not in {item.word for item in items()}


def test_vocabulary_is_large_sorted_lowercase_and_contains_every_word() -> None:
    listed = vocabulary()
    assert len(listed) >= 2000
    assert list(listed) == sorted(set(listed))
    assert all(word.isascii() and word.isalpha() and word.islower() for word in listed)
    assert {item.word for item in items()} <= set(listed)


def test_most_of_the_vocabulary_is_a_legal_clue_for_every_word() -> None:
    """The rule refuses forms of the word, not half the language."""
    for item in items()[::10]:
        refused = [word for word in vocabulary() if objection(item, word)]
        assert item.word in refused
        assert len(refused) <= 6, refused
