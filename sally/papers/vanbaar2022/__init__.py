"""vanbaar2022: people who predicted scripted players and then decided whether to inspect them."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "vanbaar2022",
    "people who predict a player, then decide whether to inspect (van Baar et al. 2022)",
    __name__,
)
