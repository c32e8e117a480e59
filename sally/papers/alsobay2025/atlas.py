"""Dots of the atlas figure: people's contributions to public goods, by the return per token."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from sally.core.rules.metric import Played
from sally.games.public_goods.metrics import contributions_of, game_of
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasSource, estimate_dots
from sally.stats.cluster_interval import mean_by_rule

SOURCE, YEAR = "alsobay2025", 2025
RANGES = ((0.0, 0.15), (0.15, 0.25), (0.25, 0.40), (0.40, 0.71), (0.71, inf))


def return_range(back: float) -> tuple[float, float]:
    """Return the range of returns per token that holds `back`; the lower end is inside.

    >>> return_range(0.25)
    (0.25, 0.4)
    """
    return next((low, high) for low, high in RANGES if low <= back < high)


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return one dot of the atlas figure for each range of `back` (the payoff of a token to each
    member), from games without extra stages; the intervals treat the seats of one game as a
    cluster."""
    by_return: dict[tuple[float, float], list[tuple[float, Played]]] = {}
    for played in games:
        game = game_of(played)
        if played.episode.used.get("extra stages"):
            continue
        for seat in game.seats:
            gifts = contributions_of(played, seat)
            share = sum(gifts) / (game.tokens * len(gifts))
            by_return.setdefault(return_range(game.back), []).append((share, played))
    dots: list[AtlasDot] = []
    for (low, high), decisions in sorted(by_return.items()):
        column = AtlasColumn(
            "public goods",
            f"a token returns {low:.2f} to {high:.2f} to each",
            "share of the tokens given (joint scale, not skill)",
            "nothing is given",
            "everything is given",
        )
        groups = [played.episode.id for _, played in decisions]
        value = mean_by_rule([share for share, _ in decisions], groups, (0.0, 1.0))
        ids = list(dict.fromkeys(groups))
        facts = (len(decisions), "people", len(ids), SOURCE)
        dots += estimate_dots(column, "people", "people", YEAR, value, *facts, ids)
    return dots


ATLAS = AtlasSource("alsobay2025", dots_of)
