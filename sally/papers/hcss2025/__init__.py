"""hcss2025: six language models among scripted players in the repeated prisoner's dilemma."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "hcss2025", "six language models among scripted players in the dilemma (HCSS 2025)", __name__
)
