"""Dots of the atlas figure: people's contributions to public goods, by the return per token."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.games.public_goods.metrics import game_of, given
from sally.parts.atlas import FEW_IDS, AtlasColumn, AtlasDot, AtlasSource
from sally.stats.cluster_interval import mean_by_rule

SOURCE, YEAR = "alsobay2025", 2025


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return one dot of the atlas figure for each value of `back` (the payoff of a token to each
    member), from games without extra stages; the intervals treat the seats of one game as a
    cluster."""
    by_return: dict[str, list[tuple[float, Played]]] = {}
    for played in games:
        game = game_of(played)
        if played.episode.used.get("extra stages"):
            continue
        for seat in game.seats:
            gifts = given(played, seat)
            share = sum(gifts) / (game.tokens * len(gifts))
            by_return.setdefault(f"{game.back:.2f}", []).append((share, played))
    found = []
    for back, made in sorted(by_return.items()):
        column = AtlasColumn(
            "public goods",
            f"a token returns {back} to each",
            "share of the tokens given (joint scale, not skill)",
            "nothing is given",
            "everything is given",
        )
        groups = [played.episode.id for _, played in made]
        value = mean_by_rule([share for share, _ in made], groups, (0.0, 1.0))
        assert value.value is not None
        ids = tuple(dict.fromkeys(groups))[:FEW_IDS]
        found.append(
            AtlasDot(
                column,
                "people",
                "people",
                YEAR,
                value.value,
                value.low,
                value.high,
                len(made),
                "people",
                len(set(groups)),
                SOURCE,
                ids,
            )
        )
    return found


ATLAS = AtlasSource("alsobay2025", dots_of)
