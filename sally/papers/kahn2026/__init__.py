"""kahn2026: three models that forecast each other's moves in a crisis simulation."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "kahn2026", "models that forecast the opponent's move in a crisis (Kahn project 2026)", __name__
)
