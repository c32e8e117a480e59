"""kang2026: the study, the published figures and the tables."""

from sally.core.registry.paper import Paper

PAPER = Paper(
    "kang2026", "ToMA: four games in which predictions must become choices", __name__, prompts=True
)
