"""Elicitation: a single decision, with stated beliefs about what others will do."""

from sally.games.elicitation.spec import GAME

__all__ = ["GAME"]
