"""The study of `make demo`: mindless players, the tabular learner, and the embedded model."""

from __future__ import annotations

from sally.core.registry.study import Cell, Study, grid, instance, player_spec

GAMES = ("rps", "ibs", "ipd")
SETTINGS = {"temperature": 0.7, "max_tokens": 12}  # enough for `Option: R`

BOTS = tuple(
    Cell(
        name=game,
        instances=(instance(game, f"{game}-40", rounds=40),),
        lineups=grid(
            agent=(player_spec("random"), player_spec("constant"), player_spec("tabular")),
            partner=player_spec("tit_for_tat"),
        ),
        arms={"agent": ("their_move_given_mine",)},
        repeats=20,
    )
    for game in GAMES
)

MODEL = tuple(
    Cell(
        name=f"{game}, lm",  # under qa the embedded model forfeits more than it plays
        instances=(instance(game, f"{game}-10", rounds=10),),
        lineups=grid(
            agent=player_spec("language", model="embedded", strategy="lm", settings=SETTINGS),
            partner=player_spec("tit_for_tat"),
        ),
        arms={"agent": ("their_move_given_mine",)},
        retries=1,
    )
    for game in GAMES
)

STUDY = Study(
    name="demo",
    about="rps, ibs and ipd: bots and a learner over forty rounds, the embedded model over ten",
    cells=BOTS + MODEL,
)
