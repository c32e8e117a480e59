"""Dots of the atlas figure: people in 300 rounds of rock, paper, scissors, by the bot that they
met."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.games.repeated_games.atlas import decision_dots
from sally.parts.atlas import AtlasDot, AtlasSource

YEAR = 2024


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return a dot of the atlas figure for each bot that is a finite automaton: the score of the
    people who played against it."""
    return decision_dots(games, "brockbank2024", {}, YEAR)


ATLAS = AtlasSource(("rps_v2", "rps_v3"), dots_of)
