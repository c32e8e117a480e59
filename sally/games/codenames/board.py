"""The board of Codenames: the cards as a grid, coloured if the seat may know the colour."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Grid, Mark, Note, Notes, Part, Square
from sally.games.codenames.rules import Over, View

MARKS: dict[str, Mark] = {"own": "good", "other": "bad", "neutral": "hidden", "assassin": "goal"}
SIGNS = {"own": "✔", "other": "✘", "neutral": "", "assassin": "☠"}
NAMES = {
    "own": "yours",
    "other": "the rival's",
    "neutral": "nobody's",
    "assassin": "the assassin",
}


def board(context: SeatContext, view: View) -> Board:
    """Return the current board, the clue, and the points of earlier boards."""
    parts: list[Part] = []
    if not view.over:
        parts.append(_grid(view))
    notes = []
    if view.clue is not None:
        notes.append(Note("The clue", f"{view.clue.word}, for {view.clue.number}", "last"))
        notes.append(Note("Cards left to turn over", str(view.left)))
    paid = [event.paid for event in view.log if isinstance(event, Over)]
    notes += [Note(f"Board {n}", f"{points:g} points") for n, points in enumerate(paid, 1)]
    if notes:
        parts.append(Notes("On the table", tuple(notes)))
    return Board(tuple(parts))


def _grid(view: View) -> Grid:
    words, turned = view.boards[-1], view.turned
    columns = 4 if len(words) <= 16 else 5
    squares = tuple(
        _square(view, word, n // columns, n % columns, word in turned)
        for n, word in enumerate(words)
    )
    rows = -(-len(words) // columns)
    legend = "; ✔ yours, ✘ the rival's, ☠ the assassin" if view.colours or turned else ""
    return Grid(f"Board {len(view.boards)}{legend}", rows, columns, squares)


def _square(view: View, word: str, row: int, col: int, is_open: bool) -> Square:
    colour = view.turned.get(word) or view.colours.get(word)
    if colour is None:
        return Square(row, col, word, "covered", option=word)
    state = "open" if is_open else "covered"
    text = f"{SIGNS[colour]} {f'({word})' if is_open else word}".strip()
    return Square(row, col, text, f"{NAMES[colour]}, {state}", MARKS[colour], word)


BOARD = board
