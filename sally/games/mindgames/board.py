"""Board of MindGames: the effects of each proposal, as far as a seat knows them."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Limit, Mark, Note, Notes, Row, Table
from sally.games.mindgames.rules import PERSUADER, Brief, MindGame, View

EFFECTS: dict[int, tuple[str, Mark, str]] = {
    1: ("+", "good", "increases it"),
    0: ("0", "", "has no effect on it"),
    -1: ("−", "bad", "decreases it"),
}
FEELS = {1: "likes it", 0: "is indifferent to it", -1: "dislikes it"}


def board(context: SeatContext, view: View) -> Board:
    """Return the table of effects with the seat's goal; the target's mind only if revealed."""
    game, brief = context.game, view.brief
    assert isinstance(game, MindGame)
    names = game.names
    table = Table(
        f"What each {names.noun} does",
        names.attributes,
        tuple(
            _row(brief, p, f"{names.noun.capitalize()} {letter}")
            for p, letter in enumerate(names.proposals)
        ),
    )
    parts = [table, *_revealed(brief, names.attributes)]
    counted = view.seat == PERSUADER and not game.discrete
    return Board(tuple(parts), {"text": Limit(game.limit, "---")} if counted else {})


def _row(brief: Brief, proposal: int, label: str) -> Row:
    goal = brief.goal == proposal
    cells = tuple(_cell(brief, proposal, a, u) for a, u in enumerate(brief.utilities[proposal]))
    return Row(f"{label} (your goal)" if goal else label, cells, "goal" if goal else "")


def _cell(brief: Brief, proposal: int, attribute: int, utility: int | None) -> Cell:
    if utility is None:
        return Cell("?", "hidden", "not known")
    sign, mark, effect = EFFECTS[utility]
    if brief.known is None:
        return Cell(sign, mark, effect)
    knows = (proposal, attribute) in brief.known
    told = "known to the other at the start" if knows else "not known to the other at the start"
    return Cell(f"{sign} ●" if knows else sign, mark, f"{effect}; {told}")


def _revealed(brief: Brief, attributes: tuple[str, ...]) -> list[Notes]:
    if brief.likes is None or brief.known is None:
        return []
    likes = tuple(Note(a, FEELS[v]) for a, v in zip(attributes, brief.likes, strict=True))
    return [Notes("The other player (● in the table: what it knew at the start)", likes)]


BOARD = board
