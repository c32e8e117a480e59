"""Where on a spectrum a mind would place a word."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sally.games.association.lexicon import place
from sally.games.association.matrices import Ties, sense
from sally.games.wavelength.spectra import spectrum

Places = npt.NDArray[np.float64]  # by word of the vocabulary, from 0 to 100


@lru_cache(maxsize=256)
def places_on(left: str, right: str) -> Places:
    """Where every word of the vocabulary lies: its rank between the poles, from 0 to 100.

    Ranks make every target reachable: some word lies within a thirtieth of a point of it.
    """
    order = np.argsort(_leanings(left, right), kind="stable")
    found = np.empty(len(order))
    found[order] = np.arange(len(order)) * 100 / (len(order) - 1)
    return found


def place_by(ties: Ties, left: str, right: str) -> float:
    """Where a word lies that brings the vocabulary to mind like this: its rank among all."""
    mine = _toward(ties[None, :], left, right)[0]
    below = float((_leanings(left, right) < mine).mean())
    return 100 * below


@lru_cache(maxsize=256)
def _leanings(left: str, right: str) -> Places:
    """How much nearer every word of the vocabulary is to the right pole than to the left."""
    return _toward(sense(), left, right)


def _toward(ties: Ties, left: str, right: str) -> Places:
    poles = spectrum(left, right)
    there, here = (
        ties[:, [place(word) for word in near]].mean(axis=1)
        for near in (poles.near_right, poles.near_left)
    )
    nearer: Places = np.round(there - here, 4).astype(float)
    return nearer
