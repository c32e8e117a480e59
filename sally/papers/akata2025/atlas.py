"""Dots of the atlas figure: models of 2023 in repeated games, against the declared bots that they
met."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.games.repeated_games.atlas import decision_dots
from sally.parts.atlas import AtlasDot, AtlasSource

# The years in which the models appeared, by their names.
YEARS = {"gpt3": 2020, "gpt35": 2022, "gpt4": 2023, "claude": 2023, "llama2": 2023}
PEOPLE = 2023


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return a dot of the atlas figure for each model and game. People are left out: their opponent
    was a table of answers, for which there is no automaton."""
    return decision_dots(games, "akata2025", YEARS, PEOPLE)


ATLAS = AtlasSource("akata2025", dots_of)
