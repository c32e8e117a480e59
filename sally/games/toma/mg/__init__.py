"""ToMA: the minority game (kang2026)."""

from sally.games.toma.mg.spec import GAME

__all__ = ["GAME"]
