"""TradeCraft: trade, craft, and infer the other players' targets (tradecraft2026)."""

from sally.games.tradecraft.spec import GAME

__all__ = ["GAME"]
