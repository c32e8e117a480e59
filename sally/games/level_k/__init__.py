"""Level-k games, which show how many steps ahead a player reasons."""

from sally.games.level_k.spec import GAME

__all__ = ["GAME"]
