"""Level-k games: published choices and predictions as data, with the same figures recomputed."""

from sally.core.registry.paper import Paper

PAPER = Paper("level_k", "How many steps ahead? The games of level-k reasoning", __name__)
