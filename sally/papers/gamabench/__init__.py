"""gamabench: thirteen language models in a guessing game and a public goods game."""

from sally.core.registry.paper import Paper

PAPER = Paper("gamabench", "thirteen models among their like (Huang et al. 2025)", __name__)
