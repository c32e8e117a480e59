"""akata2025: recorded play of models and people in repeated games, with the published figures."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "akata2025", "repeated games with large language models, and people", __name__, prompts=True
)
