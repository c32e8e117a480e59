"""Boards as plain text, for terminals and transcripts."""

from __future__ import annotations

from sally.core.rules.board import (
    Board,
    Cards,
    Grid,
    Hands,
    Lockers,
    Notes,
    Part,
    Row,
    Scale,
    Showdown,
    Table,
)


def board_lines(board: Board) -> list[str]:
    """Return a board as lines of text; recipes and messages, which can be long, are left out."""
    return [line for part in board.parts for line in part_lines(part)]


def part_lines(part: Part) -> list[str]:
    """Return a part of a board as lines of text: its caption, then what is in it."""
    match part:
        case Table(caption, columns, rows):
            return [f"{caption}:", *(f"- {_row_text(columns, row)}" for row in rows)]
        case Notes(caption, notes):
            texts = (f"{note.label}: {note.text}" if note.label else note.text for note in notes)
            return [f"{caption}:", *(f"- {text}" for text in texts)]
        case Hands(caption, hands):
            goods_texts = {
                hand.label: (f"{g.amount} {g.item}" for g in hand.goods) for hand in hands
            }
            return [
                f"{caption}:",
                *(f"- {label}: {', '.join(items)}" for label, items in goods_texts.items()),
            ]
        case Cards(caption, rows):
            card_notes = {row.label: (card.note for card in row.cards) for row in rows}
            return [
                f"{caption}:",
                *(f"- {label}: {', '.join(items)}" for label, items in card_notes.items()),
            ]
        case Grid(caption, _, _, squares):
            square_texts = (f"{s.text} ({s.note}) in row {s.row}, column {s.col}" for s in squares)
            return [f"{caption}", *(f"- {text}" for text in square_texts)]
        case Scale(caption, _, _, _, spots):
            return [f"{caption}: " + ", ".join(f"{spot.text} {spot.at:g}" for spot in spots)]
        case Lockers(caption, boxes):
            return [f"{caption}", *(f"- {box.label}: {box.holds or 'empty'}" for box in boxes)]
        case Showdown(caption, sides):
            return [f"{caption}: " + ", ".join(f"{s.who} {s.choice} ({s.points})" for s in sides)]
    return []


def _row_text(columns: tuple[str, ...], row: Row) -> str:
    cells = (f"{name} {cell.text}" for name, cell in zip(columns, row.cells, strict=False))
    return f"{row.label}: {', '.join(cells)}"
