"""The study of `make demo`: a few pairs of Sally-2, for the embedded model or a bot."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study
from sally.players.language import LANGUAGE
from sally.studies.sally_2 import bot_suite, suite

PAIRS: Mapping[str, int] = {"eleven_twenty": 2, "toma_po": 2, "mindgames": 2}  # the first ones
BOT = "knows_half"


def first_pairs(study: Study) -> Study:
    """Return the study `demo`: the first pairs of three games of a suite."""
    cells = []
    for cell, pairs in zip(study.cells, PAIRS.values(), strict=True):
        positions = slice(2 * pairs)
        problems, lineups = cell.instances[positions], cell.lineups[positions]
        cells.append(msgspec.structs.replace(cell, instances=problems, lineups=lineups))
    return msgspec.structs.replace(
        study,
        name="demo",
        about="a few pairs of the suite Sally-2 in three games",
        cells=tuple(cells),
        tags={"size": "demo"},
    )


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
    return first_pairs(bot_suite(BOT, "S", tuple(PAIRS)))


_OPEN = first_pairs(suite("S", tuple(PAIRS)))
STUDY = msgspec.structs.replace(_OPEN, cells=tuple(map(_with_embedded, _OPEN.cells)))
