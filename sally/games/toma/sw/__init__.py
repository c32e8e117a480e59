"""The ToMA game Speak or Wait (kang2026)."""

from sally.games.toma.sw.spec import GAME

__all__ = ["GAME"]
