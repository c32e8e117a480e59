"""brockbank2024: people against fifteen bots in rock, paper, scissors, with the published
figures."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "brockbank2024", "people exploit, and are exploited by, bots in rock paper scissors", __name__
)
