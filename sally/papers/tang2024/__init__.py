"""tang2024: study, published figures, tables."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "tang2024", "Pick the Right Stuff: where does each user believe its item to be?", __name__
)
