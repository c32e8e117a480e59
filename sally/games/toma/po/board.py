"""The costs on the player's page, as a table."""

from __future__ import annotations

from sally.core.board import Board, Cell, Row, Table
from sally.core.desk import Desk
from sally.games.toma.po.game import PartlySeen, View
from sally.games.toma.po.rules import AGENTS, shown


def board(desk: Desk, view: View) -> Board:
    """One row an agent; a row that the view does not have is shown as not known."""
    game = desk.game
    assert isinstance(game, PartlySeen)
    problem = game.problem
    unknown = Cell("?", "hidden", "not known to you")
    rows = tuple(
        Row(
            f"Agent {AGENTS[agent]}" + (" (you)" if agent == problem.player else ""),
            tuple(Cell(shown(cost)) for cost in row) if row else (unknown,) * len(problem.tasks),
            "yours" if agent == problem.player else "",
        )
        for agent, row in enumerate(view.costs)
    )
    return Board((Table("What each task costs whom", problem.tasks, rows),))


BOARD = board
