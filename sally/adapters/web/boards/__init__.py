"""Boards: one module a game family, each a pure function from a seat's own view to what is drawn.

A board is made from the view alone; of the desk it takes names and public parameters. A game
without a board of its own is drawn as its words draw it for a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sally.adapters.web.boards import (
    mindgames,
    pick_the_right_stuff,
    repeated_games,
    toma_ag,
    toma_mg,
    toma_po,
    toma_sw,
    tradecraft,
)
from sally.adapters.web.boards.parts import Board, Picture
from sally.core.desk import Desk

BOARDS: Mapping[str, Callable[[Desk, Any], Board]] = {
    "mindgames": mindgames.board,
    "pick_the_right_stuff": pick_the_right_stuff.board,
    "repeated_games": repeated_games.board,
    "toma_ag": toma_ag.board,
    "toma_mg": toma_mg.board,
    "toma_po": toma_po.board,
    "toma_sw": toma_sw.board,
    "tradecraft": tradecraft.board,
}

__all__ = ["BOARDS", "Board", "board_of"]


def board_of(desk: Desk, view: Any) -> Board | None:
    """What a seat's browser draws for a view of that seat; None where there is nothing to draw."""
    draw = BOARDS.get(desk.spec.family or desk.spec.name)
    if draw is not None:
        return draw(desk, view)
    picture = desk.words.drawn(view)
    return Board((Picture(picture),)) if picture else None
