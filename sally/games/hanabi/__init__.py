"""Hanabi (Bard et al. 2020): everyone sees every hand but their own, and hints are dear."""

from sally.games.hanabi.spec import GAME

__all__ = ["GAME"]
