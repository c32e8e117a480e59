"""ToMA: the ambiguity game (kang2026)."""

from sally.games.toma.ag.spec import GAME

__all__ = ["GAME"]
