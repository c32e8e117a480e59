"""zhu2024: 4,673 people in 2x2 games played once; the partner is the crowd of people in the other
role."""

from sally.core.registry.paper import Paper

PAPER = Paper("zhu2024", "people in 2x2 games played once (Zhu et al. 2025)", __name__)
