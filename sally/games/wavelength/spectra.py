"""The spectra: two opposite poles each, and words that lie near them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from sally.core.errors import unknown


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
