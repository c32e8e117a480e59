"""TradeCraft: trade, craft, and infer what the other player wants (tradecraft2026)."""

from sally.games.tradecraft.spec import GAME

__all__ = ["GAME"]
