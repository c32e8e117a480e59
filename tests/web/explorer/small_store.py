"""A small study and the list of its episodes."""

from __future__ import annotations

from pathlib import Path

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study, instance
from sally.web.explorer.episode_list import EpisodeList

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


def list_episodes(folder: Path) -> EpisodeList:
    episode_list = EpisodeList([folder])
    episode_list.refresh()
    return episode_list
