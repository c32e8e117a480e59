"""Every trader against every trader, on instances of the three rulesets."""

from __future__ import annotations

from sally.core.registry.study import Cell, Study, grid, player_spec
from sally.games.tradecraft.problems import problems

TRADERS = ("zero_order", "first_order", "second_order", "hoarder", "generous", "random")
SETS = {
    "minecraft_core": "minecraft_core_2p_2",
    "alchemy": "alchemy_2p",
    "invented": "invented_2p",
}

CROSSPLAY = Study(
    name="tradecraft_crossplay",
    about="zero-, first- and second-order traders, a hoarder, a giver and chance, each with each",
    cells=tuple(
        Cell(
            name=name,
            instances=problems(chosen),
            lineups=grid(p1=tuple(map(player_spec, TRADERS)), p2=tuple(map(player_spec, TRADERS))),
        )
        for name, chosen in SETS.items()
    ),
    seed=2026,
)
