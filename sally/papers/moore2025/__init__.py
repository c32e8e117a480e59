"""moore2025: the study, the published figures and the tables."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "moore2025", "MindGames: persuasion as planning with a theory of mind", __name__, prompts=True
)
