"""Which words of the list may be said beside others, as words and as rows of the vocabulary."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from sally.games.association.english import vocabulary
from sally.games.association.lexicon import barred

Rows = npt.NDArray[np.int64]
HELD = 1024  # sets of words whose clues are remembered, 50 kilobytes each


@lru_cache(maxsize=HELD)
def open_rows(against: tuple[str, ...]) -> Rows:
    """Where the clues that no word of `against` bars stand in the vocabulary."""
    free = np.ones(len(vocabulary()), np.bool_)
    free[[row for word in against for row in barred(word)]] = False
    return np.flatnonzero(free)


@lru_cache(maxsize=HELD)
def open_words(against: tuple[str, ...]) -> tuple[str, ...]:
    """The same clues as words, in alphabetical order."""
    return tuple(_words()[open_rows(against)].tolist())


@cache
def _words() -> npt.NDArray[np.object_]:
    return np.array(vocabulary(), dtype=object)
