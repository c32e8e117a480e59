"""The study of `make demo`: a tiny slice of Sally-1, for the embedded model or a bot."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sally.analysis.evaluation import ASKED
from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study
from sally.players.language import LANGUAGE
from sally.studies.sally_1 import bot_suite, suite, tasks

PROBLEMS: Mapping[str, int] = {"rps": 1, "toma_po": 4, "battery": 4}  # the first ones of each game
BOT = "noisy_50"  # the best bot of each game with half of its moves and answers drawn at random


def slice_of(study: Study) -> Study:
    """Return the study `demo`: the first problems of three games of a suite, with probes before
    every move (the asked arm)."""
    ids = {game: {t.instance.id for t in tasks(game)[:n]} for game, n in PROBLEMS.items()}
    cells = []
    for cell in study.cells:
        game = cell.instances[0].game
        selected = [
            (problem, lineup)
            for problem, lineup in zip(cell.instances, cell.lineups, strict=True)
            if problem.id in ids.get(game, ())
        ]
        if selected and cell.factors["arm"] == ASKED:
            problems, lineups = zip(*selected, strict=True)
            cells.append(msgspec.structs.replace(cell, instances=problems, lineups=lineups))
    about = "a tiny slice of the suite Sally-1: three games, what was known and what was done"
    return msgspec.structs.replace(study, name="demo", about=about, cells=tuple(cells), tags={})


def _with_embedded(cell: Cell) -> Cell:
    """Return a cell with the embedded model in the open seats, under the strategy `lm`, which
    scores the candidate answers and generates no text."""

    def embed_player(player: PlayerSpec) -> PlayerSpec:
        if player.player != LANGUAGE:
            return player
        return msgspec.structs.replace(
            player, params={**player.params, "model": "embedded", "strategy": "lm"}
        )

    lineups = tuple(
        {s: embed_player(player) for s, player in line.items()} for line in cell.lineups
    )
    return msgspec.structs.replace(cell, lineups=lineups)


def with_bot() -> Study:
    """Return the demo study with a bot in place of the model."""
    return slice_of(bot_suite(BOT))


_OPEN = slice_of(suite("S", tuple(PROBLEMS)))
STUDY = msgspec.structs.replace(_OPEN, cells=tuple(map(_with_embedded, _OPEN.cells)))
