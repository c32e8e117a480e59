"""Taboo: one-word hints for a partner with its own associations."""

from sally.games.taboo.spec import GAME

__all__ = ["GAME"]
