"""TradeCraft: trade, craft, and say what the other wants (tradecraft2026)."""

from sally.games.tradecraft.spec import GAME

__all__ = ["GAME"]
