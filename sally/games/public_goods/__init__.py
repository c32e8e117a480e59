"""Public goods: all players give to a common pot, and the multiplied pot is shared."""

from sally.games.public_goods.spec import GAME

__all__ = ["GAME"]
