"""Codenames: one word for several cards, for somebody whose associations are its own."""

from sally.games.codenames.spec import GAME

__all__ = ["GAME"]
