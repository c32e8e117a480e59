"""Codenames: one clue for several cards, for a partner with its own associations."""

from sally.games.codenames.spec import GAME

__all__ = ["GAME"]
