"""Wavelength: a one-word clue to a position on a dial, for a partner with its own reading of the
dial."""

from sally.games.wavelength.spec import GAME

__all__ = ["GAME"]
