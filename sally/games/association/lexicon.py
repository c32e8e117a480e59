"""The vocabulary of the word games, and the rule for which clues are too similar to a word."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from itertools import compress

import numpy as np
import numpy.typing as npt

from sally.games.association.english import forms, is_compound, vocabulary, words_of

Rows = npt.NDArray[np.int64]
SHAPE = r"[A-Za-z]+(?:[-'][A-Za-z]+)*"  # one word: letters, optionally joined by a hyphen
ONE_WORD = "one word, written in letters"  # the same, for people


@cache
def places() -> dict[str, int]:
    """Return the index of each word of the vocabulary, in alphabetical order."""
    return {word: row for row, word in enumerate(vocabulary())}


def place(word: str) -> int:
    """Return the row index of a word of the vocabulary."""
    return places()[word]


@lru_cache(maxsize=8192)
def plain(word: str) -> str:
    """Return a word in the vocabulary's form: lower case, no accents, no punctuation."""
    return "".join(words_of(word))


@cache
def cards() -> tuple[str, ...]:
    """Return the common nouns used for cards and targets; all are in the vocabulary."""
    text = files(__package__).joinpath("cards.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def plain_words() -> tuple[str, ...]:
    """Return the vocabulary words that are not cards, so that a question about them reveals
    nothing about a board."""
    nouns = set(cards())
    return tuple(word for word in vocabulary() if word not in nouns)


@cache
def overlaps(clue: str, word: str) -> bool:
    """Return whether a clue is the word, a form of it or a compound with it, or vice versa."""
    return _is_derived(clue, word) or _is_derived(word, clue)


def _is_derived(first: str, second: str) -> bool:
    return first in forms(second) or is_compound(first, second)


@cache
def barred_rows(word: str) -> tuple[int, ...]:
    """Return the indices of the vocabulary words that may not be clues for a word.

    Only two groups of words are tested, because overlapping words either begin with the same two
    letters or one of them ends with the other.
    """
    starts, ends = _by_ending()
    inside = {word[cut:] for cut in range(1, len(word))} & places().keys()
    candidates = {*starts.get(word[:2], ()), *ends.get(word, ()), *inside}
    return tuple(sorted(place(clue) for clue in candidates if overlaps(clue, word)))


@cache
def _by_ending() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the vocabulary grouped by first two letters, and grouped by every word ending."""
    starts: dict[str, list[str]] = {}
    ends: dict[str, list[str]] = {}
    for word in vocabulary():
        starts.setdefault(word[:2], []).append(word)
        for cut in range(len(word)):
            ends.setdefault(word[cut:], []).append(word)
    return starts, ends


@lru_cache(maxsize=1024)
def open_words(against: tuple[str, ...]) -> tuple[str, ...]:
    """Return the vocabulary words that are legal clues because they overlap with no word of
    `against`, alphabetically."""
    return tuple(compress(vocabulary(), _open(against).tolist()))


@lru_cache(maxsize=1024)
def open_rows(against: tuple[str, ...]) -> Rows:
    """Return the indices of the vocabulary words that overlap with no word of `against`, in the
    order of `open_words`."""
    return np.flatnonzero(_open(against))


def _open(against: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return, for each vocabulary word, whether it is a legal clue: one that overlaps with no
    word of `against`."""
    free = np.ones(len(vocabulary()), np.bool_)
    free[[row for word in against for row in barred_rows(word)]] = False
    return free


def clue_problem(clue_text: str, against: tuple[str, ...], any_word: bool) -> str | None:
    """Return why a clue is not allowed, or None if it is allowed.

    A clue must be one word and must not overlap with any word of `against`. Unless `any_word` is
    set, it must also be on the game's word list.
    """
    if not re.fullmatch(SHAPE, clue_text.strip()):
        return "A clue is one word, written in letters."
    clue = plain(clue_text)
    for word in against:
        if overlaps(clue, word):
            return f"The clue '{clue}' is too close to the word '{word}'."
    if not any_word and clue not in places():
        return f"'{clue}' is not on the word list of this game; say another plain English word."
    return None
