"""A first look: three games, two kinds of partner, players with and without a mind for them."""

from __future__ import annotations

from sally.core.study import Cell, Study, grid, instance, sitter

GAMES = ("rps", "ibs", "ipd")

STUDY = Study(
    name="quickstart",
    about="a first look: rps, ibs and ipd against a constant and a responsive partner",
    cells=tuple(
        Cell(
            name=game,
            instances=(instance(game, f"{game}-100", rounds=100),),
            lineups=grid(
                agent=(sitter("random"), sitter("constant"), sitter("tabular")),
                partner=(sitter("single_action", action=1), sitter("tit_for_tat")),
            ),
            arms={"agent": ("their_move",)},
            repeats=30,
        )
        for game in GAMES
    ),
)
