"""Hands as cards, with what hints have said of each; one's own stay face down."""

from __future__ import annotations

from sally.core.board import Board, Cell, Note, Notes, Row, Table
from sally.core.desk import Desk
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.table import View
from sally.games.hanabi.words import HanabiWords


def board(desk: Desk, view: View) -> Board:
    """Piles, hands, discards and tokens, from what the seat knows."""
    words, game = desk.words, desk.game
    assert isinstance(words, HanabiWords)
    assert isinstance(game, Hanabi)
    return Board((_piles(words, view), _hands(words, game, view), _facts(words, game, view)))


def _piles(words: HanabiWords, view: View) -> Table:
    colours = tuple(words.colour(c).capitalize() for c in range(len(view.piles)))
    done = words.game.ranks
    cells = tuple(Cell(str(h), "good" if h == done else "") for h in view.piles)
    return Table("Piles", colours, (Row("Highest card", cells),))


def _hands(words: HanabiWords, game: Hanabi, view: View) -> Table:
    """One row a hand, oldest card first; under every card stands what its holder was told."""
    widest = max(len(ids) for ids in view.ids)
    rows: list[Row] = []
    for seat, marks in enumerate(view.marks):
        mine = seat == view.me
        name = f"{words.player(seat)} (you)" if mine else words.player(seat)
        faces = ["?"] * len(marks) if mine else [words.card(card) for card in view.hands[seat]]
        told = [words.of_card(mark) for mark in marks]
        blank = (Cell(""),) * (widest - len(marks))
        shown = tuple(
            Cell(face, "hidden" if mine else "", f"Told: {what}" if what else "Nothing told")
            for face, what in zip(faces, told, strict=True)
        )
        rows.append(Row(name, shown + blank, "yours" if mine else ""))
        rows.append(Row("told", tuple(Cell(what or "-") for what in told) + blank))
    columns = tuple(words.say("slot", number=n).capitalize() for n in range(1, widest + 1))
    return Table("Hands, oldest card first", columns, tuple(rows))


def _facts(words: HanabiWords, game: Hanabi, view: View) -> Notes:
    gone = [words.card(card) for card, n in enumerate(view.gone) for _ in range(n)]
    return Notes(
        "Table",
        (
            Note("Hint tokens", f"{view.tokens} of {game.hints}"),
            Note("Lives", f"{view.lives} of {game.lives}", "bad" if view.lives == 1 else ""),
            Note("Cards in the deck", str(view.left)),
            Note("Discarded", ", ".join(gone) or "none"),
        ),
    )


BOARD = board
