"""pact: recorded bargaining of language models over twenty rounds with talk, and its findings."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "pact", "twenty rounds of bargaining with talk between language models", __name__, prompts=True
)
