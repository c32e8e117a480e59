"""riemer2025_names: what the names of actions change, as in Figures 19-43 of riemer2025.

The paper does not state the strategy of these figures; ours is qa.
"""

from __future__ import annotations

from sally.core.registry.study import Study
from sally.papers.riemer2025.cells import cell

REPEATED = 20  # letters in a name that takes up more of the page
NAMES = {
    "neutral": ("J", "F", "B"),
    "repeated": ("J" * REPEATED, "F" * REPEATED, "B" * REPEATED),
    "food": ("Pasta", "Rice", "Bread"),
}
CANONICAL = {
    "rps": ("Rock", "Paper", "Scissors"),
    "ibs": ("Fight", "Ballet"),
    "ipd": ("Cooperate", "Defect"),
}
PARTNERS = ("single_action", "tit_for_tat")


def name_sets(game: str) -> dict[str, str]:
    """The names of a game's actions by what kind of names they are."""
    sets = {**NAMES, "canonical": CANONICAL[game]}
    return {kind: " ".join(names[: len(CANONICAL[game])]) for kind, names in sets.items()}


NAMES_STUDY = Study(
    name="riemer2025_names",
    about="what the names of actions change in repeated games, Figures 19-43 of riemer2025",
    cells=tuple(
        cell(
            "names",
            {
                "game": game,
                "partner": partner,
                "player": "language",
                "strategy": "qa",
                "names": names,
            },
        )
        for game in CANONICAL
        for partner in PARTNERS
        for names in name_sets(game).values()
    ),
    paper="riemer2025",
    retries=2,
)
