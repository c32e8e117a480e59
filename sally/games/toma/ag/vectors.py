"""Sentence vectors of all hints and of the vocabulary, shipped as package data.

They were computed once with MiniLM (see `sally.games.association.minilm`) and are never edited.
Even if the weights are available, a listener uses these half-precision rows for known texts, so
that the same clue gives the same guess with and without weights.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sally.games.association.english import vocabulary
from sally.games.association.vectors import Vectors, read_rows, word_vectors
from sally.games.toma.ag.rules import items


@cache
def known_texts() -> tuple[str, ...]:
    """Return the texts of the table's rows: the vocabulary, then the hints of all problems."""
    hints = (hint for item in items() for hint in (item.b_hint, item.c_hint))
    return (*vocabulary(), *dict.fromkeys(hints))


@cache
def table() -> Vectors:
    """Return the unit vectors of all texts of the game, one row per word or hint."""
    hints = read_rows(__package__, "hints.npy", len(known_texts()) - len(vocabulary()))
    return np.concatenate([word_vectors(), hints])


@cache
def rows_by_text() -> dict[str, int]:
    """Return the row number of each text in the table of vectors."""
    return {text: row for row, text in enumerate(known_texts())}
