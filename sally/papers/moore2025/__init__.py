"""moore2025: study, published figures, tables."""

from sally.core.registry.paper import Paper

PAPER = Paper("moore2025", "MindGames: persuasion as planning with a theory of mind", __name__)
