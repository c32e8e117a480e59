"""The spectra, and where on one of them a mind would place a word."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from sally.core.errors import unknown
from sally.games.association.lexicon import place
from sally.games.association.matrices import Ties, sense

Places = npt.NDArray[np.float64]  # by word of the vocabulary, from 0 to 100


class Spectrum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two opposite poles, and words that lie near each of them."""

    left: str
    right: str
    near_left: tuple[str, ...]
    near_right: tuple[str, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    spectra: tuple[Spectrum, ...]
    places: frozenset[str]


@cache
def _file() -> _File:
    text = files(__package__).joinpath("spectra.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _File)


def spectra() -> tuple[Spectrum, ...]:
    """All spectra, in the order of the file."""
    return _file().spectra


def places_by_name() -> frozenset[str]:
    """Words that name a place on the dial: numbers, halves, sides."""
    return _file().places


@cache
def spectrum(left: str, right: str) -> Spectrum:
    """The spectrum between two poles, whichever of them is on the left."""
    for one in spectra():
        if (one.left, one.right) == (left, right):
            return one
        if (one.left, one.right) == (right, left):
            return Spectrum(left, right, one.near_right, one.near_left)
    known = [f"{one.left}-{one.right}" for one in spectra()]
    raise unknown("spectrum of wavelength", f"{left}-{right}", known)


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
