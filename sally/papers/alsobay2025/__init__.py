"""alsobay2025: people in public goods games of 2 to 20 players."""

from sally.core.registry.paper import Paper

PAPER = Paper("alsobay2025", "people in public goods games (Alsobay et al. 2025)", __name__)
