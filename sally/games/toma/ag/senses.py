"""Senses of words, for a listener that requires hint and clue to fit the same sense.

The sentence vector of a word lies between the vectors of its senses, so a listener that uses the
word's vector misses most natural clues. Here each of the hundred words has two senses, each with a
short list of words that we associate with it (`senses.txt`); every other word of the vocabulary has
one sense, the word itself.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

import numpy as np

from sally.games.association.english import vocabulary, words_of
from sally.games.association.lexicon import places
from sally.games.association.vectors import Vectors, word_vectors

NARROW = 0.8  # weight of the weaker of hint and clue in a candidate's score
SAID = 3.0  # bonus, in standard units, for a word listed with a sense


@cache
def senses() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return every sense listed in `senses.txt`, as a pair: the word, and the words associated with
    this sense."""
    pairs = (line.split(": ") for line in _lines("senses.txt"))
    return tuple((word, tuple(about.split())) for word, about in pairs)


@cache
def candidates() -> tuple[tuple[str, ...], Vectors]:
    """Return all candidates with their vectors: first the senses, then words with one sense."""
    ambiguous = {word for word, _ in senses()}
    single = [word for word in vocabulary() if word not in ambiguous]
    sense_rows = [_sense_vector(word, about) for word, about in senses()]
    rows = np.stack([*sense_rows, *(word_vectors()[places()[word]] for word in single)])
    return (*(word for word, _ in senses()), *single), rows


def _sense_vector(word: str, about: tuple[str, ...]) -> Vectors:
    """Return the normalised mean vector of the word and its associations."""
    rows_known = [places()[associated] for associated in (word, *about) if associated in places()]
    middle = word_vectors()[rows_known].mean(axis=0)
    unit: Vectors = (middle / np.linalg.norm(middle)).astype(np.float32)
    return unit


@cache
def _usual() -> tuple[Vectors, Vectors]:
    """Return the mean and standard deviation of each candidate's similarity to all words."""
    _, rows = candidates()
    similarities = rows @ word_vectors().T
    return similarities.mean(axis=1), similarities.std(axis=1)


@lru_cache(maxsize=4096)
def fits(vector: bytes, text: str, without: str = "") -> Vectors:
    """Return how well a text fits every candidate, in standard deviations of that candidate's
    similarity to all words.

    Words in `without` are left out of the associations, so that their effect can be measured.
    """
    _, rows = candidates()
    mean, spread = _usual()
    score: Vectors = (rows @ np.frombuffer(vector, np.float32) - mean) / spread
    heard = set(words_of(text)) - set(words_of(without))
    is_named = np.array([bool(heard & set(about)) for _, about in senses()])
    score[: len(is_named)] += np.float32(SAID) * is_named
    return score


@cache
def natural_clues() -> dict[str, str]:
    """Return, for each word, one clue that a person might give, written by the authors of Sally."""
    return dict(line.split("\t") for line in _lines("natural.txt"))


def _lines(name: str) -> list[str]:
    """Return the lines of a file of this package, without empty lines and comments."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def combine_fits(hint: Vectors, clue: Vectors) -> Vectors:
    """Return how well hint and clue combined fit every candidate."""
    combined = NARROW * np.minimum(hint, clue) + (1 - NARROW) * (hint + clue) / 2
    return combined.astype(np.float32)
