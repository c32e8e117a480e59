"""Level-k games: published choices and predictions as data, and the same figures computed here."""

from sally.core.registry.paper import Paper

PAPER = Paper("level_k", "How many steps ahead? The games of level-k reasoning", __name__)
