"""Battery (literal theory of mind): questions about what people in a story believe and do."""

from sally.games.battery.spec import GAME

__all__ = ["GAME"]
