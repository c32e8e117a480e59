"""Repeated two-player matrix games with simultaneous moves (riemer2025)."""

from sally.games.repeated_games.spec import GAME

__all__ = ["GAME"]
