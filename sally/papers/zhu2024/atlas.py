"""Dots of the atlas: people and rules of thumb in one-shot 2x2 games, against the crowd."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sally.core.rules.atlas import FEW_IDS, AtlasColumn, AtlasDot, AtlasSource
from sally.core.rules.metric import Played
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.zhu2024 import figures

SOURCE, YEAR, LEAST = "zhu2024", 2024, 5
COLUMN = AtlasColumn(
    "2x2 games",
    "played once",
    "doing against the crowd across",
    "even odds",
    "best reply to the crowd",
)


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of people and of rules on the same choices; choices with a small crowd are
    left out."""
    rows = []
    for played in games:
        episode = played.episode
        across = episode.used.get("people across", 0)
        if across < LEAST:
            continue
        matrix = episode.setup.instance.params["matrix"]
        odds = episode.setup.lineup[PARTNER].params["odds"]
        _, person, _ = episode.setup.instance.id.split(":")
        rows.append((int(person), played.replay.moves[0][AGENT], matrix, odds, across))
    if not rows:
        return []
    pay = np.array([row[2] for row in rows], float)
    odds = np.array([row[3] for row in rows], float)
    table = figures.Table(
        np.array([row[0] for row in rows]),
        np.zeros(len(rows), int),
        np.array([row[1] for row in rows]),
        pay[..., 0],
        pay[..., 1],
        np.array([row[4] for row in rows]),
        np.einsum("nrc,nc->nr", pay[..., 0], odds),
    )
    ids = tuple(played.episode.id for played in games[:FEW_IDS])
    people = len(np.unique(table.person))
    found = []
    shown = {"people": None, **figures.rules(table)}
    for name, rule in shown.items():
        value = figures.doing(table, rule, LEAST)
        assert value.value is not None
        found.append(
            AtlasDot(
                COLUMN,
                name,
                "people" if rule is None else "rule",
                YEAR if rule is None else None,
                value.value,
                value.low,
                value.high,
                value.n,
                "choices",
                people,
                SOURCE,
                ids,
            )
        )
    return found


ATLAS = AtlasSource("zhu2024", dots_of)
