"""The board of the minority game: places with their features, and the agents' wishes."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Note, Notes, Row, Table
from sally.games.toma.mg.game import View
from sally.games.toma.mg.rules import Agent
from sally.games.toma.mg.words import MinorityWords


def board(context: SeatContext, view: View) -> Board:
    """Return the board: the features of each place, and each agent's likes, dislikes and relations,
    without the agents' destinations."""
    places = Notes("Places", tuple(Note(p.name, ", ".join(p.features)) for p in view.places))
    words = context.words
    assert isinstance(words, MinorityWords)
    names = [words.agent_name(agent.name) for agent in view.agents]
    agents = tuple(
        Row(name, _wishes(agent, names)) for name, agent in zip(names, view.agents, strict=True)
    )
    columns = ("likes", "dislikes", "follows", "avoids")
    return Board((places, Table("Who wants what", columns, agents)))


def _wishes(agent: Agent, names: Sequence[str]) -> tuple[Cell, ...]:
    def agent_name(number: int | None) -> str:
        return "–" if number is None else names[number]

    return (
        Cell(", ".join(agent.likes) or "–"),
        Cell(", ".join(agent.dislikes) or "–"),
        Cell(agent_name(agent.follows)),
        Cell(agent_name(agent.avoids)),
    )


BOARD = board
