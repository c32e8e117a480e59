"""The spectra of Wavelength: pairs of opposite poles with words near them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from sally.core.errors import unknown


class Spectrum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two opposite poles and the words near each of them."""

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
    """Return all spectra in the order of the file."""
    return _file().spectra


def places_by_name() -> frozenset[str]:
    """Return the words that name a position on the dial: numbers, halves, sides."""
    return _file().places


@cache
def spectrum(left_pole: str, right_pole: str) -> Spectrum:
    """Return the spectrum between two poles, in either order."""
    for known_spectrum in spectra():
        if (known_spectrum.left, known_spectrum.right) == (left_pole, right_pole):
            return known_spectrum
        if (known_spectrum.left, known_spectrum.right) == (right_pole, left_pole):
            return Spectrum(
                left_pole, right_pole, known_spectrum.near_right, known_spectrum.near_left
            )
    names = [f"{known_spectrum.left}-{known_spectrum.right}" for known_spectrum in spectra()]
    raise unknown("spectrum in the game wavelength", f"{left_pole}-{right_pole}", names)
