"""A matrix game played again and again by the same two, who move at the same time (riemer2025)."""

from sally.games.repeated_games.spec import GAME

__all__ = ["GAME"]
