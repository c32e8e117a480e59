"""The board of the ambiguity game: the word, the hints and the clue that a seat knows."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Note, Notes
from sally.games.toma.ag.game import SPEAKER, View


def board(context: SeatContext, view: View) -> Board:
    """Return the speaker's word and both hints, or a listener's own hint; and the clue, once it
    is given."""
    if view.seat == SPEAKER:
        notes = [
            Note("Secret word", view.word, "goal"),
            Note("Teammate B's hint", view.b_hint, "good"),
            Note("Opponent C's hint", view.c_hint, "bad"),
        ]
    else:
        notes = [Note("Your private hint", view.b_hint or view.c_hint, "yours")]
    if view.clue is not None:
        notes.append(Note("The clue", view.clue, "last"))
    return Board((Notes("On the table", tuple(notes)),))


BOARD = board
