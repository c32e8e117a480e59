"""What a clue brings to a mind, for words of the vocabulary and for any other word."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sally.games.association.lexicon import places, plain
from sally.games.association.matrices import (
    EXACT,
    Ties,
    moved,
    noisy_vectors,
    row_by_sense,
    row_by_spelling,
    sense,
    with_links,
)
from sally.games.association.minds import Mind, ties


@lru_cache(maxsize=512)
def heard(mind: Mind, said: str) -> Ties:
    """How strongly what was said brings every word of the vocabulary to this mind."""
    clue = plain(said)
    row = places().get(clue)
    if row is not None:
        known: Ties = ties(mind)[row]
        return known
    return _unknown(mind, clue)


def _unknown(mind: Mind, clue: str) -> Ties:
    """The same for a word that is not on the list, by way of MiniLM."""
    from sally.games.association.minilm import minilm  # heavy, and seldom wanted

    vector: Ties = minilm().vectors([clue])[0]
    if mind.kind == "noise":
        return row_by_sense(
            moved(vector, mind.amount, mind.who, clue), noisy_vectors(mind.amount, mind.who)
        )
    by_sense = row_by_sense(vector)
    if mind.kind == "form":
        mixed = (1 - mind.amount) * by_sense + mind.amount * row_by_spelling(clue)
        rounded: Ties = np.round(mixed, EXACT).astype(np.float32)
        return rounded
    if mind.kind == "links":
        nearest = int(by_sense.argmax())
        bridged: Ties = by_sense + (with_links(mind.amount, mind.who)[nearest] - sense()[nearest])
        return bridged
    return by_sense
