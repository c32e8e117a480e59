"""The word games of riemer2025's appendix A: exact baselines of ours, and neighbours in print."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "appendix_a",
    "Codenames, Taboo, Wavelength: the word games of riemer2025's appendix A",
    __name__,
)
