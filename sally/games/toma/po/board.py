"""The board of the partially observable game: the costs as a table."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Row, Table
from sally.games.toma.po.game import PartlySeen, View
from sally.games.toma.po.rules import AGENTS, cost_text
from sally.games.toma.po.words import PartlySeenWords


def board(context: SeatContext, view: View) -> Board:
    """Return the costs, one row per agent; rows missing from the view are shown as not known.

    Rows that the player must not use by the rules are left out, although the prompt for models
    contains them.
    """
    game, words = context.game, context.words
    assert isinstance(game, PartlySeen) and isinstance(words, PartlySeenWords)
    problem = game.problem
    unknown = Cell("?", "hidden", "not known to you")
    rows = tuple(
        Row(
            capital(words.agent(AGENTS[agent])) + (" (you)" if agent == problem.player else ""),
            tuple(Cell(cost_text(cost)) for cost in row)
            if row
            else (unknown,) * len(problem.tasks),
            "yours" if agent == problem.player else "",
        )
        for agent, row in enumerate(view.costs)
        if row is None or agent == problem.player or agent in problem.knows[problem.player]
    )
    return Board((Table("What each task costs whom", problem.tasks, rows),))


def capital(name: str) -> str:
    return name[:1].upper() + name[1:]


BOARD = board
