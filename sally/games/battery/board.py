"""What is shown beside a question of the game `battery`, which asks about people in stories: the
story."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Note, Notes, Part
from sally.games.battery.rules import View


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the story as paragraphs; nothing is highlighted, because that would hint at an
    answer."""
    parts: list[Part] = []
    if view.asked is not None:
        lines = [line for line in view.asked.story.split("\n") if line.strip()]
        parts.append(Notes("The story", tuple(Note("", line) for line in lines)))
    return Board(tuple(parts))
