"""The board of Taboo: the secret and banned words, if visible to the seat, and the hints."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Note, Notes, Part, Row, Table
from sally.games.taboo.rules import View


def board(context: SeatContext, view: View) -> Board:
    """Return this round, its hints and guesses, and the rounds before it."""
    parts: list[Part] = []
    notes = [Note("Rounds played", str(len(view.past)))]
    if view.cue:
        notes.append(Note("Think of", view.cue, "last"))
    if view.target:
        notes.append(Note("Secret word", view.target, "goal"))
        notes += [Note("Banned", word, "bad") for word in view.banned]
    if view.hint is not None:
        notes.append(Note("The hint", view.hint, "last"))
    parts.append(Notes("On the table", tuple(notes)))
    if view.tries:
        rows = tuple(Row(str(n), _cells(*each)) for n, each in enumerate(view.tries, 1))
        parts.append(Table("This round", ("hint", "guess"), rows, corner="number"))
    if view.past:
        done = tuple(
            Row(str(n), _cells(seen.target, str(len(seen.tries)), str(seen.points)))
            for n, seen in enumerate(view.past, 1)
        )
        parts.append(Table("Rounds so far", ("word", "hints", "points"), done, corner="round"))
    return Board(tuple(parts))


def _cells(*shown: str | None) -> tuple[Cell, ...]:
    return tuple(Cell("none" if fact is None else fact) for fact in shown)


BOARD = board
