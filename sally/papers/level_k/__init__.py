"""Level-k games: what people did and what theory says, as data, beside what is computed here."""

from sally.core.registry.paper import Paper

PAPER = Paper("level_k", "How many steps ahead? The games of level-k reasoning", __name__)
