"""Association strengths between any two words of the vocabulary: by meaning, spelling or topic."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from sally.core.rules.chance import Stream
from sally.games.association.english import vocabulary
from sally.games.association.vectors import Products, inner_products, likeness, word_vectors

Ties = npt.NDArray[np.float32]  # one row per cue, one column per word
TOPICS = 40
LINKS = 8  # links between topics in a mind with links
EXACT = 3  # decimals kept


def round_strengths(raw: Products) -> Ties:
    """Return association strengths with three decimals, so that equal strengths are equal on every
    machine."""
    exact: Ties = np.round(raw, EXACT).astype(np.float32)
    return exact


def standard(raw: Products) -> Ties:
    """Return association strengths scaled to mean 0 and standard deviation 1, rounded."""
    return round_strengths((raw - raw.mean()) / raw.std())


@cache
def cosine() -> Ties:
    """Return association strengths by meaning: raw cosines of sentence vectors."""
    return standard(likeness())


@cache
def sense() -> Ties:
    """Return association strengths by meaning, corrected for each word's mean similarity to all
    others.

    Without the correction, a few words that are near to all others dominate.
    """
    return standard(centre_twice(likeness()))


def centre_twice(raw: Products) -> Products:
    """Return the strengths after double centring, so that every row and every column has mean 0."""
    rows, columns = raw.mean(axis=1, keepdims=True), raw.mean(axis=0, keepdims=True)
    residual: Products = raw - rows - columns + raw.mean()
    return residual


def row_by_sense(vector: Ties, words: Ties | None = None) -> Ties:
    """Return the association strengths by meaning for the vector of any text, scaled like those
    of the vocabulary."""
    raw = likeness() if words is None else inner_products(words)
    similarities = (word_vectors() if words is None else words).astype(np.float64) @ vector
    row = similarities - similarities.mean() - raw.mean(axis=0) + raw.mean()
    return round_strengths(row / centre_twice(raw).std())


@cache
def spelling() -> Ties:
    """Return association strengths by spelling: cosines of letter pairs, with word ends marked."""
    return standard(inner_products(_letters()))


def row_by_spelling(word: str) -> Ties:
    """Return how similar any word is in spelling to each word of the vocabulary, as association
    strengths."""
    raw = inner_products(_letters())
    pair_weights = np.zeros(len(_pair_columns()))
    pairs = _pairs(word)
    pair_weights[[_pair_columns()[pair] for pair in pairs if pair in _pair_columns()]] = (
        len(pairs) ** -0.5
    )
    return round_strengths((_letters() @ pair_weights - raw.mean()) / raw.std())


def _pairs(word: str) -> set[str]:
    return {f" {word} "[i : i + 2] for i in range(len(word) + 1)}


@cache
def _pair_columns() -> dict[str, int]:
    all_pairs = set().union(*map(_pairs, vocabulary()))
    return {pair: column for column, pair in enumerate(sorted(all_pairs))}


@cache
def _letters() -> Ties:
    """Return one row per word: its letter pairs as a unit vector."""
    has = np.zeros((len(vocabulary()), len(_pair_columns())), np.float32)
    for row, word in enumerate(vocabulary()):
        word_pairs = _pairs(word)
        has[row, [_pair_columns()[pair] for pair in word_pairs]] = len(word_pairs) ** -0.5
    return has


@cache
def topics() -> npt.NDArray[np.int64]:
    """Return the topic of every word: one of forty clusters of the word vectors, frozen in a
    file."""
    text = files(__package__).joinpath("topics.txt").read_text(encoding="utf-8")
    topic_numbers = np.array(text.split(), dtype=np.int64)
    if len(topic_numbers) != len(vocabulary()):
        raise ValueError(
            f"topics.txt has {len(topic_numbers)} topics for {len(vocabulary())} words."
        )
    return topic_numbers


@lru_cache(maxsize=4)
def noisy_vectors(size: float, person: int) -> Ties:
    """Return the vocabulary vectors of person `person`, each slightly perturbed."""
    rows = zip(word_vectors(), vocabulary(), strict=True)
    return np.stack([perturb(vector, size, person, word) for vector, word in rows])


def perturb(vector: Ties, size: float, person: int, word: str) -> Ties:
    """Return a vector with a perturbation that is determined by the person and the word."""
    noise = Stream("noise", person, word).generator().standard_normal(len(vector))
    elsewhere = vector + size * noise / np.sqrt(len(vector))
    unit: Ties = (elsewhere / np.linalg.norm(elsewhere)).astype(np.float32)
    return unit


def with_noise(size: float, person: int) -> Ties:
    """Return association strengths by meaning between the perturbed vectors of person `person`."""
    words = noisy_vectors(size, person)
    return standard(centre_twice(inner_products(words)))


def with_links(strength: float, person: int) -> Ties:
    """Return association strengths by meaning, with person `person`'s private links between
    topics."""
    ties, group = sense().copy(), topics()
    for start, end in links_of(person):
        ties[np.ix_(group == start, group == end)] += np.float32(strength)
    return ties


def links_of(person: int) -> tuple[tuple[int, int], ...]:
    """Return a person's links as pairs (from topic, to topic)."""
    draws = Stream("links", person)
    starts = draws.shuffled(range(TOPICS))[:LINKS]
    return tuple((s, draws.pick([t for t in range(TOPICS) if t != s])) for s in starts)
