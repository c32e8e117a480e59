"""hanabi_bots as studies: a model with bots in Mini-Hanabi, and every pair of bots."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.players.language import OPEN

PARTNERS = ("simple", "smart", "iggi")
PROBES = ("own_card_odds", "own_playable", "their_belief", "their_known")
CROSSED = (
    "simple",
    "holmes",
    "smart",
    "info",
    "iggi",
    "outer",
    "piers",
    "van_den_bergh",
    "bookkeeper",
)
DEALS, CROSSED_DEALS = 30, 50


def deals(game: str, count: int) -> tuple[Instance, ...]:
    """Return the first `count` deals of a game; the score counts the piles even after a loss."""
    return tuple(
        instance(game, f"{game}-{deal:03d}", deal=deal, score="kept") for deal in range(count)
    )


def study(model: str = OPEN, **language: Any) -> Study:
    """Return the study of one model with each of three bots.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    me = player_spec("language", model=model, strategy="qa", **language)
    mini = deals("hanabi_mini", DEALS)
    cells = [
        cell
        for name in PARTNERS
        for cell in (
            Cell(f"{name}: plays", mini, grid(ann=me, bob=player_spec(name))),
            Cell(f"{name}: asked", mini, grid(ann=me, bob=player_spec(name)), arms={"ann": PROBES}),
            Cell(
                f"{name}: yardsticks",
                mini,
                grid(
                    ann=(player_spec(name), player_spec("bookkeeper"), player_spec("random")),
                    bob=player_spec(name),
                ),
                arms={"ann": PROBES},
            ),
        )
    ]
    return Study(
        name="hanabi_bots",
        about="a model beside bots in Mini-Hanabi: what it knows of both hands, and what it scores",
        cells=tuple(cells),
        paper="hanabi_bots",
    )


STUDY = study()
CROSSPLAY = Study(
    name="hanabi_crossplay",
    about="every bot of Hanabi beside every other on the same deals: who understands whom",
    cells=(
        Cell(
            "crossplay",
            deals("hanabi", CROSSED_DEALS),
            grid(ann=tuple(map(player_spec, CROSSED)), bob=tuple(map(player_spec, CROSSED))),
        ),
    ),
)
STUDIES = (STUDY, CROSSPLAY)
