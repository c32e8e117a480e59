"""Wavelength: one word for a place on a dial, for a partner who turns it in a way of its own."""

from sally.games.wavelength.spec import GAME

__all__ = ["GAME"]
