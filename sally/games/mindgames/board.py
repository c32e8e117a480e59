"""Board of MindGames: the effects of each proposal, as far as a seat knows them."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Good, Hand, Hands, Limit, Note, Notes
from sally.games.mindgames.rules import PERSUADER, Brief, MindGame, View

EFFECTS = {1: "+", 0: "0", -1: "−"}
LEGEND = "+ increases it, − decreases it, 0 no effect, ? not known"
FEELS = {1: "likes it", 0: "is indifferent to it", -1: "dislikes it"}


def board(context: SeatContext, view: View) -> Board:
    """Return the proposals as cards with the seat's goal; the target's mind is shown only if
    revealed."""
    game, brief = context.game, view.brief
    assert isinstance(game, MindGame)
    names = game.names
    cards = tuple(
        _card(brief, p, f"{names.noun.capitalize()} {letter}", names.attributes)
        for p, letter in enumerate(names.proposals)
    )
    parts = [
        Hands(f"What each {names.noun} does: {LEGEND}", cards),
        *_revealed_notes(brief, names.attributes),
    ]
    counted = view.seat == PERSUADER and not game.discrete and not game.notes
    return Board(tuple(parts), {"text": Limit(game.limit, "---")} if counted else {})


def _card(brief: Brief, proposal: int, label: str, attributes: tuple[str, ...]) -> Hand:
    goal = brief.goal == proposal
    effects = zip(attributes, brief.utilities[proposal], strict=True)
    goods = tuple(
        Good(name, _effect(brief, proposal, n, utility))
        for n, (name, utility) in enumerate(effects)
    )
    return Hand(f"{label} (your goal)" if goal else label, goods, "goal" if goal else "")


def _effect(brief: Brief, proposal: int, attribute: int, utility: int | None) -> str:
    """Return a proposal's effect on an attribute, with a dot if the target knew the effect at the
    start."""
    if utility is None:
        return "?"
    knows = brief.known is not None and (proposal, attribute) in brief.known
    return f"{EFFECTS[utility]} ●" if knows else EFFECTS[utility]


def _revealed_notes(brief: Brief, attributes: tuple[str, ...]) -> list[Notes]:
    if brief.likes is None or brief.known is None:
        return []
    likes = tuple(Note(a, FEELS[v]) for a, v in zip(attributes, brief.likes, strict=True))
    return [Notes("The other player (● on the cards: what it knew at the start)", likes)]


BOARD = board
