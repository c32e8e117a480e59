"""Sentence vectors of the vocabulary and of all hints, shipped as package data.

Made once with MiniLM (see `sally.games.toma.ag.minilm`) and never edited. Half precision is what
counts everywhere: a listener that has the weights takes these rows for known texts too, so with
and without weights the same clue gives the same guess.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from sally.games.toma.ag.rules import items, vocabulary

Vectors = npt.NDArray[np.float32]
FILE = "vectors.npy"


@cache
def known_texts() -> tuple[str, ...]:
    """The vocabulary, then both hints of every problem: one text a row of the table."""
    hints = (hint for item in items() for hint in (item.b_hint, item.c_hint))
    return (*vocabulary(), *dict.fromkeys(hints))


@cache
def table() -> Vectors:
    """One unit vector a known text."""
    with files(__package__).joinpath(FILE).open("rb") as file:
        rows: Vectors = np.load(file).astype(np.float32)
    if len(rows) != len(known_texts()):
        raise ValueError(
            f"{FILE} has {len(rows)} rows for {len(known_texts())} texts; make it anew."
        )
    return rows


@cache
def rows_by_text() -> dict[str, int]:
    """Where each known text stands."""
    return {text: row for row, text in enumerate(known_texts())}


@cache
def likeness() -> Vectors:
    """How alike any two words of the vocabulary are."""
    words = table()[: len(vocabulary())]
    alike: Vectors = words @ words.T
    return alike
