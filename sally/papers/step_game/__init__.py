"""step_game: published games of the step race between language models, as records and figures."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "step_game", "language models in the public step game benchmark, 2025", __name__, prompts=True
)
