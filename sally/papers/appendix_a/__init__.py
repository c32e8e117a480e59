"""The word games of riemer2025's appendix A: baselines, and published figures of similar games."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "appendix_a",
    "Codenames, Taboo, Wavelength: the word games of riemer2025's appendix A",
    __name__,
)
