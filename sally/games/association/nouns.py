"""Associations with the noun list: how strongly clues suggest possible target words."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from sally.games.association.english import vocabulary
from sally.games.association.lexicon import barred_rows, cards, overlaps, place, places, plain
from sally.games.association.matrices import Ties
from sally.games.association.minds import HELD, Mind, clue_strengths, ties

Mask = npt.NDArray[np.bool_]


@cache
def columns() -> dict[str, int]:
    """Return the index of each noun in the noun list, which is in alphabetical order."""
    return {word: column for column, word in enumerate(cards())}


@cache
def ruled_out() -> Mask:
    """Return, for each vocabulary word (row) and noun (column), whether the word is illegal as a
    clue for the noun."""
    mask = np.zeros((len(vocabulary()), len(cards())), np.bool_)
    for column, word in enumerate(cards()):
        mask[list(barred_rows(word)), column] = True
    return mask


@lru_cache(maxsize=HELD)
def noun_ties(mind: Mind) -> Ties:
    """Return how strongly each word of the vocabulary (row) suggests each noun (column).

    The strength is minus infinity where the word may not be a clue for the noun.
    """
    rows = [place(word) for word in cards()]
    return np.where(ruled_out(), -np.inf, ties(mind)[:, rows]).astype(np.float32)


def brought(mind: Mind, clue_text: str) -> Ties:
    """Return how strongly a clue, in the vocabulary or not, suggests every noun."""
    clue = plain(clue_text)
    row = places().get(clue)
    if row is not None:
        known_row: Ties = noun_ties(mind)[row]
        return known_row
    free = clue_strengths(mind, clue)[[place(word) for word in cards()]]
    out = np.array([overlaps(clue, word) for word in cards()])
    return np.where(out, -np.inf, free).astype(np.float32)


def nearest_nouns(word: str) -> list[str]:
    """Return the nouns that a word may be a clue for, nearest by meaning first."""
    strengths = noun_ties(Mind())[place(word)]
    order = np.argsort(-strengths, kind="stable")
    return [cards()[int(column)] for column in order if np.isfinite(strengths[column])]
