"""A first look: three games, two kinds of partner, players with and without theory of mind."""

from __future__ import annotations

from sally.core.registry.study import Cell, Study, grid, instance, player_spec

GAMES = ("rps", "ibs", "ipd")
ROUNDS = 40  # enough for a learner to use what it has learned; ten are not
PARTNERS = (player_spec("single_action", action=1), player_spec("tit_for_tat"))


def cells(rounds: int) -> tuple[Cell, ...]:
    """Return one cell for each game, with this many rounds."""
    return tuple(
        Cell(
            name=game,
            instances=(instance(game, f"{game}-{rounds}", rounds=rounds),),
            lineups=grid(
                agent=(player_spec("random"), player_spec("constant"), player_spec("tabular")),
                partner=PARTNERS,
            ),
            arms={"agent": ("their_move",)},
            repeats=10,
        )
        for game in GAMES
    )


STUDY = Study(
    name="quickstart",
    about="a first look: rps, ibs and ipd against a constant and a responsive partner",
    cells=cells(ROUNDS),
)
