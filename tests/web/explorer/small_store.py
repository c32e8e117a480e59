"""A small study and its index."""

from __future__ import annotations

from pathlib import Path

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study, instance
from sally.web.explorer.index import EpisodeIndex

SECRET = "a long enough secret for a test"
STUDY = Study(
    "small",
    "two partners, two cells",
    (
        Cell(
            "rps",
            (instance("rps", "rps-3", rounds=3),),
            ({"agent": PlayerSpec("random"), "partner": PlayerSpec("constant")},),
            arms={"agent": ("their_move",)},
            repeats=3,
        ),
        Cell(
            "ipd",
            (instance("ipd", "ipd-2", rounds=2),),
            ({"agent": PlayerSpec("random"), "partner": PlayerSpec("tit_for_tat")},),
            repeats=2,
        ),
    ),
)


def index(folder: Path) -> EpisodeIndex:
    episode_index = EpisodeIndex([folder])
    episode_index.refresh()
    return episode_index
