"""kang2026: study, published figures, tables."""

from sally.core.registry.paper import Paper

PAPER = Paper("kang2026", "ToMA: four games in which predictions must become choices", __name__)
