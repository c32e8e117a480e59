"""The board of elicitation: what there is to choose, and whom the questions are about."""

from __future__ import annotations

from sally.core.errors import join_names
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Note, Notes, Reveal, Row, Table
from sally.core.rules.replay import Trajectory
from sally.games.elicitation.rules import Elicitation, State, View


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board: the actions, and the questions by whom they are about."""
    game = context.game
    assert isinstance(game, Elicitation)
    notes = [Note("You choose", join_names(game.menu, "or") if game.menu else "nothing")]
    about = dict.fromkeys(question.about for question in game.questions if question.about)
    if about:
        notes.append(Note("Questions about", join_names(about)))
    return Board((Notes("Your decision", tuple(notes)),))


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return what the others did and what each choice would have paid."""
    game, chosen = replay.rules(Elicitation), replay.present.move
    values = game.true_values
    truths = tuple(
        Note(question.ask.replace("_", " "), str(question.truth))
        for question in game.questions
        if isinstance(question.truth, str | float | int)
    )
    if values is None or chosen is None:
        return Reveal("What the others did is not known, so no choice has a payoff.", truths)
    rows = tuple(
        Row(
            name,
            (Cell(f"{value:.4g}", "last" if n == chosen else ""),),
            "yours" if n == chosen else "",
        )
        for n, (name, value) in enumerate(zip(game.menu, values, strict=True))
    )
    best = max(values)
    how = "no choice paid more" if values[chosen] == best else f"the best choice paid {best:.4g}"
    why = f"You chose {game.menu[chosen]} and got {values[chosen]:.4g}; {how}."
    return Reveal(why, truths, (Table("What each choice paid", ("points",), rows, "choice"),))
