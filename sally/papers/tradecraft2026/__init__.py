"""tradecraft2026: the studies, the published figures and the tables."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "tradecraft2026", "TradeCraft: trading and crafting with hidden targets", __name__, prompts=True
)
