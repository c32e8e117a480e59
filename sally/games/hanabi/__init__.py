"""Hanabi (Bard et al. 2020): players see every hand but their own, and the number of hints is
limited."""

from sally.games.hanabi.spec import GAME

__all__ = ["GAME"]
