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


def example_of(context: SeatContext) -> Board | None:
    """Return the picture beside a seat's rules, or None if the game has none.

    A game declares it as `EXAMPLE`, a function of the seat's context: it sees no view, so it cannot
    show anything of the episode.
    """
    draw = registry.part(context.spec.name, "example")
    parts = draw(context) if draw is not None else ()
    return Board(parts) if parts else None
