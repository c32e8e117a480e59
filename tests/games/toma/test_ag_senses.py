"""The listener that knows senses: natural clues are understood, and mostly by the right one."""

from __future__ import annotations

from collections import Counter

from sally.games.toma.ag import senses
from sally.games.toma.ag.partners import heard_as, heard_by_senses, shipped_vector
from sally.games.toma.ag.rules import Outcome, items, judge, objection
from sally.games.toma.ag.vectors import rows_by_text

# Clues of one word of the vocabulary are heard without any weights.
KNOWN = [item for item in items() if senses.natural_clues()[item.word] in rows_by_text()]


def outcomes(listener: str, held_out: bool = False) -> Counter[Outcome]:
    counts: Counter[Outcome] = Counter()
    for item in KNOWN:
        clue = senses.natural_clues()[item.word]
        without = clue if held_out else ""
        guesses = [
            heard_as(hint, clue, shipped_vector)
            if listener == "embedding"
            else heard_by_senses(hint, clue, shipped_vector, without)
            for hint in (item.b_hint, item.c_hint)
        ]
        counts[judge(item, *guesses)] += 1
    return counts


def test_every_word_has_two_senses_and_one_legal_natural_clue() -> None:
    words = [item.word for item in items()]
    assert Counter(word for word, _ in senses.senses()) == Counter(words * 2)
    assert sorted(senses.natural_clues()) == sorted(words)
    for item in items():
        assert objection(item, senses.natural_clues()[item.word]) is None


def test_natural_clues_win_with_senses_far_more_often_than_with_single_vectors() -> None:
    old, new = outcomes("embedding"), outcomes("senses")
    assert len(KNOWN) > 70
    assert new["win"] > 3 * old["win"]
    assert new["miss"] < 0.5 * old["miss"]
    assert new["loss"] < old["loss"]


def test_held_out_clues_keep_most_of_the_wins_by_senses() -> None:
    assert outcomes("senses", held_out=True)["win"] > 0.6 * outcomes("senses")["win"]


def test_unrelated_clue_does_not_win_for_bow() -> None:
    bow = next(item for item in items() if item.word == "bow")
    heard = [heard_by_senses(hint, "wolf", shipped_vector) for hint in (bow.b_hint, bow.c_hint)]
    assert judge(bow, *heard) != "win"
    assert heard_by_senses(bow.b_hint, "archery", shipped_vector) == "bow"
