"""ToMA: the partially observable game (kang2026)."""

from sally.games.toma.po.spec import GAME

__all__ = ["GAME"]
