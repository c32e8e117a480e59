"""The board of the game Speak or Wait: the map as one seat knows it."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Grid, Note, Notes, Square
from sally.games.toma.sw.rules import EAVESDROPPER, GUIDE, SIDE, View


def board(context: SeatContext, view: View) -> Board:
    """Return the landmarks, by name or as unnamed objects, with B and the treasure if the seat
    knows them."""
    say = context.words.say
    squares = [Square(*cell, _initials(name), name) for name, cell in view.landmarks]
    squares += [Square(*cell, "?", "a landmark, name unknown", "hidden") for cell in view.objects]
    squares += [
        Square(g.guess.row, g.guess.col, "×", say(f"board.wrong.{g.guess.target}"), "bad")
        for g in view.guesses
        if g.guess is not None and not g.right
    ]
    if view.treasure is not None:
        squares.append(Square(*view.treasure, "Treasure", "the treasure", "goal"))
    if view.cell is not None:
        squares.append(Square(*view.cell, say("board.you"), say("board.you.long"), "yours"))
    grid = Grid("The map. Row 0 is north, column 0 is west.", SIDE, SIDE, tuple(squares))
    notes = _notes(view)
    return Board((grid, Notes("What you know", notes)) if notes else (grid,))


def _notes(view: View) -> tuple[Note, ...]:
    if view.seat == EAVESDROPPER:
        return ()
    landmark_notes = tuple(
        Note(_initials(name), f"{name}, at ({cell[0]}, {cell[1]})") for name, cell in view.landmarks
    )
    if view.seat == GUIDE:
        box = Note("Box", "open" if view.treasure is not None else "locked", "goal")
        return (box, *landmark_notes)
    return (
        (Note("Password", view.password, "goal"), *landmark_notes)
        if view.password
        else landmark_notes
    )


def _initials(name: str) -> str:
    return "".join(word[0] for word in name.split())


BOARD = board
