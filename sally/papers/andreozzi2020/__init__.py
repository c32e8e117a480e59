"""andreozzi2020: people who stated the odds of their partner's moves in a sequential dilemma."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "andreozzi2020",
    "people with paid beliefs in a sequential dilemma (Andreozzi et al. 2020)",
    __name__,
)
