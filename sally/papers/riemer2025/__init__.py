"""riemer2025: study, published figures, tables."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "riemer2025", "repeated matrix games: does a model adapt to the partner it predicts?", __name__
)
