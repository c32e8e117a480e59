"""tang2024: the study, the published figures and the tables."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "tang2024",
    "Pick the Right Stuff: where does each user believe its item to be?",
    __name__,
    prompts=True,
)
