"""The board that shows a seat's view of a game."""

from __future__ import annotations

from typing import Any

from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.board import Board, Picture


def board_of(context: SeatContext, view: Any) -> Board | None:
    """Return the board that shows a seat's view, or None if the game has none.

    If the game does not define a board, the text drawing in the game's words is shown instead.
    The position comes only from the view, so that a board shows nothing that is hidden from the
    seat; the context supplies names and public parameters.
    """
    draw = registry.part(context.spec.name, "board")
    if draw is not None:
        board: Board = draw(context, view)
        return board
    picture = context.words.drawn(view)
    return Board((Picture(picture),)) if picture else None
