"""Which rows of the vocabulary may be said beside other words."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sally.games.association.english import vocabulary
from sally.games.association.lexicon import barred

Rows = npt.NDArray[np.int64]


@lru_cache(maxsize=1024)
def open_rows(against: tuple[str, ...]) -> Rows:
    """Where the clues that no word of `against` bars stand, in the order of `open_words`."""
    free = np.ones(len(vocabulary()), np.bool_)
    free[[row for word in against for row in barred(word)]] = False
    return np.flatnonzero(free)
