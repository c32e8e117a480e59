"""Minds that associate in declared ways: what is declared is what they do."""

from __future__ import annotations

import numpy as np
import pytest

from sally.core.errors import BadInput
from sally.games.association.english import vocabulary
from sally.games.association.lexicon import barred_rows, cards, clue_problem, overlaps, place
from sally.games.association.matrices import (
    centre_twice,
    cosine,
    links_of,
    sense,
    spelling,
    standard,
    topics,
)
from sally.games.association.minds import Mind, closeness, hubness, mind_of, tie, ties
from sally.games.association.nouns import noun_ties, ruled_out
from sally.games.association.vectors import inner_products, word_vectors


def test_cards_are_unique_sorted_vocabulary_words() -> None:
    assert len(cards()) == len(set(cards())) > 700
    assert set(cards()) <= set(vocabulary())
    assert list(cards()) == sorted(cards())


@pytest.mark.parametrize(
    ("clue", "word", "near"),
    [
        ("snow", "snow", True),
        ("dancer", "dance", True),
        ("dance", "dancer", True),
        ("sunflower", "sun", True),
        ("flower", "sunflower", True),
        ("cart", "car", False),
        ("ice", "mice", False),
    ],
)
def test_forms_and_compounds_are_too_close_in_both_directions(
    clue: str, word: str, near: bool
) -> None:
    assert overlaps(clue, word) is near


def test_strengths_do_not_depend_on_the_order_of_summation() -> None:
    """Processors sum in different orders."""
    reversed_sums = inner_products(word_vectors()[:, ::-1])
    assert np.array_equal(standard(reversed_sums), cosine())
    assert np.array_equal(standard(centre_twice(reversed_sums)), sense())


@pytest.mark.parametrize("word", cards()[::60])
def test_fast_search_for_barred_clues_equals_exhaustive_search(word: str) -> None:
    slow = tuple(row for row, clue in enumerate(vocabulary()) if overlaps(clue, word))
    assert barred_rows(word) == slow


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("two words", "one word"),
        ("", "one word"),
        ("Sunshine", "too close to the word 'sun'"),
        ("xylograph", "not on the word list"),
        ("Beach", None),
    ],
)
def test_illegal_clue_is_refused_with_its_reason(said: str, why: str | None) -> None:
    actual_clue_problem = clue_problem(said, ("sun",), any_word=False)
    assert actual_clue_problem is None if why is None else why in str(actual_clue_problem)
    assert clue_problem("xylograph", ("sun",), any_word=True) is None


def test_sense_association_is_high_for_related_words() -> None:
    assert tie(Mind(), "doctor", "hospital") > 3 > tie(Mind(), "doctor", "banjo")
    assert closeness(Mind(), "doctor", "hospital") > 95
    assert abs(float(sense().mean())) < 0.01


def test_form_mind_mixes_sense_and_spelling() -> None:
    mixed = ties(Mind("form", 0.5))
    assert np.allclose(mixed, (sense() + spelling()) / 2, atol=1e-3)
    assert tie(Mind("form", 0.5), "planet", "plane") > tie(Mind(), "planet", "plane")


def test_links_add_strength_only_between_linked_topics() -> None:
    added = ties(Mind("links", 2.0, 3)) - sense()
    start, end = links_of(3)[0]
    first, two = (int(np.flatnonzero(topics() == topic)[0]) for topic in (start, end))
    assert added[first, two] == pytest.approx(2.0, abs=1e-3)
    bridges = set(links_of(3))
    share = (
        sum(float((topics() == a).sum() * (topics() == b).sum()) for a, b in bridges)
        / len(vocabulary()) ** 2
    )
    assert float((added > 1).mean()) == pytest.approx(share)


def test_noise_differs_by_seed_and_is_reproducible() -> None:
    first, two = ties(Mind("noise", 1.0, 1)), ties(Mind("noise", 1.0, 2))
    assert not np.array_equal(first, two)
    ties.cache_clear()
    assert np.array_equal(first, ties(Mind("noise", 1.0, 1)))


def test_corrected_sense_reduces_hubness() -> None:
    raw = ties(Mind("cosine")).copy()
    np.fill_diagonal(raw, -np.inf)
    counts = np.bincount(np.argpartition(-raw, 10, axis=1)[:, :10].ravel(), minlength=len(raw))
    assert hubness().max() < counts.max()


def test_clue_containing_a_noun_rules_that_noun_out() -> None:
    assert ruled_out()[place("dancer"), list(cards()).index("dance")]
    assert noun_ties(Mind())[place("dancer"), list(cards()).index("dance")] == -np.inf


@pytest.mark.parametrize(
    "params", [{"kind": "telepathy"}, {"kind": "form", "amount": 2.0}, {"amount": -1.0}]
)
def test_invalid_mind_is_refused(params: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        mind_of(params)
