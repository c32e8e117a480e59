"""riemer2025: the studies, the published figures and the tables."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "riemer2025",
    "repeated matrix games: does a model adapt to the partner it predicts?",
    __name__,
    prompts=True,
)
