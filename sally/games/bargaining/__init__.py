"""Bargaining: buyer and seller with hidden limits haggle over one unit a round, with talk."""

from sally.games.bargaining.spec import GAME

__all__ = ["GAME"]
