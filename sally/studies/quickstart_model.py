"""A first look at a model: the quickstart's games and partners, one short episode per cell.

One episode per cell is too few for intervals; it demonstrates the tool, not the model.
"""

from __future__ import annotations

from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.players.language import OPEN
from sally.studies.quickstart import GAMES, PARTNERS

STRATEGIES = ("lm", "qa")
SETTINGS = {"temperature": 0.7, "max_tokens": 24}  # an answer is one short line

STUDY = Study(
    name="quickstart_model",
    about="a first look at a model: ten rounds of rps, ibs and ipd under lm and qa",
    cells=tuple(
        Cell(
            name=f"{game}, {strategy}",
            # a small model forfeits often: that is counted and does not end the episode
            instances=(instance(game, f"{game}-10", rounds=10, void_limit=10),),
            lineups=grid(
                agent=player_spec("language", model=OPEN, strategy=strategy, settings=SETTINGS),
                partner=PARTNERS,
            ),
            arms={"agent": ("their_move_given_mine",)},
        )
        for game in GAMES
        for strategy in STRATEGIES
    ),
)
