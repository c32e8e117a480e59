"""The first version of the quickstart, ten rounds long, kept so that its figures can be
reproduced."""

from __future__ import annotations

from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.studies.quickstart import GAMES, PARTNERS

STUDY = Study(
    name="quickstart_1",
    about="the first quickstart: ten rounds, too few for a learner to use what it has learned",
    cells=tuple(
        Cell(
            name=game,
            instances=(instance(game, f"{game}-10", rounds=10),),
            lineups=grid(
                agent=(player_spec("random"), player_spec("constant"), player_spec("tabular")),
                partner=PARTNERS,
            ),
            arms={"agent": ("their_move",)},
            repeats=10,
        )
        for game in GAMES
    ),
)
