"""pact: recorded bargaining of language models, twenty rounds with talk, and what it shows."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "pact", "twenty rounds of bargaining with talk between language models", __name__, prompts=True
)
