"""Repeated matrix games of two players who move at the same time (riemer2025)."""

from sally.games.repeated_games.spec import GAME

__all__ = ["GAME"]
