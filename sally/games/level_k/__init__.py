"""Games that show how deep a player thinks: each level replies best to the one below it."""

from sally.games.level_k.spec import GAME

__all__ = ["GAME"]
