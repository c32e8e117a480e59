"""Sentence vectors of all hints beside those of the vocabulary, shipped as package data.

Made once with MiniLM (see `sally.games.association.minilm`) and never edited. Half precision is
what counts everywhere: a listener that has the weights takes these rows for known texts too, so
with and without weights the same clue gives the same guess.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sally.games.association.english import vocabulary
from sally.games.association.vectors import Vectors, read_rows, word_vectors
from sally.games.toma.ag.rules import items


@cache
def known_texts() -> tuple[str, ...]:
    """The vocabulary, then both hints of every problem: one text a row of the table."""
    hints = (hint for item in items() for hint in (item.b_hint, item.c_hint))
    return (*vocabulary(), *dict.fromkeys(hints))


@cache
def table() -> Vectors:
    """One unit vector a known text."""
    hints = read_rows(__package__, "hints.npy", len(known_texts()) - len(vocabulary()))
    return np.concatenate([word_vectors(), hints])


@cache
def rows_by_text() -> dict[str, int]:
    """Where each known text stands."""
    return {text: row for row, text in enumerate(known_texts())}
