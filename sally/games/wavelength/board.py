"""The dial between its poles, with the target where a seat may see it."""

from __future__ import annotations

from sally.core.board import Board, Cell, Note, Notes, Part, Row, Table
from sally.core.desk import Desk
from sally.games.wavelength.rules import Seen, View


def board(desk: Desk, view: View) -> Board:
    """This round as cards, and the rounds before it as a table."""
    parts: list[Part] = []
    if view.left:
        notes = [Note("0, far left", view.left), Note("100, far right", view.right)]
        if view.target is not None:
            notes.append(Note("The target", str(view.target), "goal"))
        if view.clue is not None:
            notes.append(Note("The clue", view.clue, "last"))
        parts.append(Notes(f"Round {len(view.past) + 1}", tuple(notes)))
    if view.past:
        columns = ("0", "100", "clue", "dial", "target", "points")
        rows = tuple(Row(str(n), _cells(seen)) for n, seen in enumerate(view.past, 1))
        parts.append(Table("Rounds so far", columns, rows, corner="round"))
    return Board(tuple(parts))


def _cells(seen: Seen) -> tuple[Cell, ...]:
    shown = (seen.left, seen.right, seen.clue, seen.dial, seen.target, seen.points)
    return tuple(Cell("none" if fact is None else str(fact)) for fact in shown)


BOARD = board
