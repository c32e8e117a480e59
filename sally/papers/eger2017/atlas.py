"""Dots of the atlas figure: how often people and AIs play a card that is certainly playable."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sally.core.rules.metric import Played
from sally.papers.eger2017 import figures
from sally.papers.eger2017.reader import AIS
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasKind, AtlasSource, estimate_dots

SOURCE, YEAR = "eger2017", 2017


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of the atlas figure for people and for AIs, separately for the games with
    each AI; in intervals, each person is a cluster."""
    sides = figures.side_games(games)
    dots: list[AtlasDot] = []
    for ai in AIS:
        column = AtlasColumn(
            "Hanabi",
            f"a person and the AI {ai}",
            "turns in which a certainly playable card was played",
            "never",
            "always",
        )
        for human in (True, False):
            side_games = [g for g in sides if g.ai == ai and g.human == human]
            n = sum(turn.sure for g in side_games for turn in g.turns)
            if not n:
                continue
            idle = figures.measure(side_games, "sure but idle")
            ends = (idle.value, idle.high, idle.low)
            value, low, high = (None if end is None else 1 - end for end in ends)
            played = msgspec.structs.replace(idle, value=value, low=low, high=high)
            label = "people" if human else f"AI {ai}"
            kind: AtlasKind = "people" if human else "bot"
            facts = (n, "turns", len({g.person for g in side_games}), SOURCE)
            ids = [g.episode for g in side_games]
            dots += estimate_dots(column, label, kind, YEAR, played, *facts, ids)
    return dots


ATLAS = AtlasSource("hanabidata", dots_of)
