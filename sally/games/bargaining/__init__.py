"""Bargaining: buyer and seller with hidden limits trade one unit per round, with messages."""

from sally.games.bargaining.spec import GAME

__all__ = ["GAME"]
