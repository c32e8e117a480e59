"""Hanabi (Bard et al. 2020): players see every hand but their own, and hints are scarce."""

from sally.games.hanabi.spec import GAME

__all__ = ["GAME"]
