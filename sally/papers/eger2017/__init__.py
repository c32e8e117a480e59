"""eger2017: 240 people and three AIs playing Hanabi, as records and figures."""

from sally.core.registry.paper import Paper

PAPER = Paper("eger2017", "people with three AIs at Hanabi (Eger et al. 2017)", __name__)
