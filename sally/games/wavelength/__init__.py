"""Wavelength: a one-word clue to a position on a dial, for a partner that reads the dial its own
way."""

from sally.games.wavelength.spec import GAME

__all__ = ["GAME"]
