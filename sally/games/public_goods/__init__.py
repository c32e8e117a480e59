"""Public goods: players contribute to a common pot, which is multiplied and shared."""

from sally.games.public_goods.spec import GAME

__all__ = ["GAME"]
