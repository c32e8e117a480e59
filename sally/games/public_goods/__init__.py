"""Public goods: all give to a common pot at once, and the multiplied pot is shared by all."""

from sally.games.public_goods.spec import GAME

__all__ = ["GAME"]
