"""Dots of the atlas figure: people, models and rules of thumb in one-shot 2x2 games, each against
the choices of all people in the other role."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.papers.zhu2024.scale import ID, PEOPLE, rules, scale_players
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasKind, AtlasSource, estimate_dots

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
    dots: list[AtlasDot] = []
    for player, scaled_player in scale_players(games, LEAST).items():
        people, name = player == PEOPLE, player.removeprefix("hf:")
        values_shown = {"people" if people else name: scaled_player.doing}
        if people:
            values_shown |= rules(scaled_player.table)
        for label, value in values_shown.items():
            rule = label not in ("people", name)
            kind: AtlasKind = "rule" if rule else "people" if people else "model"
            year = YEAR if people and not rule else None
            clusters, knowing = scaled_player.clusters, scaled_player.knowing
            facts = (value.n, "choices", clusters, ID, scaled_player.episodes)
            knowing_value = None if knowing is None else knowing.value
            note = "" if people else f"the same crowd; {clusters} games, each in two orders"
            dots += estimate_dots(COLUMN, label, kind, year, value, *facts, knowing_value, note)
    return dots


ATLAS = AtlasSource(ID, dots_of)
