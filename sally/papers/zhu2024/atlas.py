"""Dots of the atlas figure: people, models and rules of thumb in one-shot 2x2 games, each against
the choices of all people in the other role."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.papers.zhu2024.scale import ID, PEOPLE, rules, scale_players
from sally.parts.atlas import FEW_IDS, AtlasColumn, AtlasDot, AtlasSource

YEAR, LEAST = 2024, 5
COLUMN = AtlasColumn(
    "2x2 games",
    "played once",
    "doing against the crowd across",
    "even odds",
    "best reply to the crowd",
)


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of the atlas figure for people, for rules of thumb applied to the same games,
    and for models that played them; games with few people in the other role are left out."""
    dots = []
    for player, scaled_player in scale_players(games, LEAST).items():
        people, name = player == PEOPLE, player.removeprefix("hf:")
        values_shown = {"people" if people else name: scaled_player.doing}
        if people:
            values_shown |= rules(scaled_player.table)
        for label, value in values_shown.items():
            assert value.value is not None
            rule = label not in ("people", name)
            dots.append(
                AtlasDot(
                    COLUMN,
                    label,
                    "rule" if rule else "people" if people else "model",
                    YEAR if people and not rule else None,
                    value.value,
                    value.low,
                    value.high,
                    value.n,
                    "choices",
                    scaled_player.clusters,
                    ID,
                    scaled_player.episodes[:FEW_IDS],
                    scaled_player.knowing.value if scaled_player.knowing is not None else None,
                    ""
                    if people
                    else f"the same crowd; {scaled_player.clusters} games, each in two orders",
                )
            )
    return dots


ATLAS = AtlasSource(ID, dots_of)
