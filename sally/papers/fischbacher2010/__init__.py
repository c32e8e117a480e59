"""fischbacher2010: people who stated the others' contributions to a public good."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "fischbacher2010",
    "people with beliefs in a public goods game (Fischbacher and Gaechter 2010)",
    __name__,
)
