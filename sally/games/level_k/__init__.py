"""Level-k games, which show how many steps ahead a player thinks."""

from sally.games.level_k.spec import GAME

__all__ = ["GAME"]
