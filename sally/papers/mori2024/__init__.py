"""mori2024: people who stated how many others would give, in threshold public goods games."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "mori2024", "people with beliefs in threshold public goods games (Mori et al. 2024)", __name__
)
