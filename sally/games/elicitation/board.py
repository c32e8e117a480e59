"""The board of elicitation: what there is to choose, and whom the questions are about."""

from __future__ import annotations

from sally.core.errors import listed
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Note, Notes
from sally.games.elicitation.rules import Elicitation, View


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board: the actions, and the questions by whom they are about."""
    game = context.game
    assert isinstance(game, Elicitation)
    notes = [Note("You choose", listed(game.menu, "or") if game.menu else "nothing")]
    about = dict.fromkeys(question.about for question in game.questions if question.about)
    if about:
        notes.append(Note("Questions about", listed(about)))
    return Board((Notes("Your decision", tuple(notes)),))
