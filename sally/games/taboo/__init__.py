"""Taboo: one-word hints for somebody whose associations are its own."""

from sally.games.taboo.spec import GAME

__all__ = ["GAME"]
