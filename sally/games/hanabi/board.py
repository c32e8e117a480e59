"""The board of Hanabi: hands as cards with what hints have said; the seat's own hand is face
down."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Note, Notes, Row, Table
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import View
from sally.games.hanabi.words import HanabiWords


def board(context: SeatContext, view: View) -> Board:
    """Return piles, hands, discards and tokens as the seat knows them."""
    words, game = context.words, context.game
    assert isinstance(words, HanabiWords)
    assert isinstance(game, Hanabi)
    return Board((_piles(words, view), _hands(words, game, view), _facts(words, game, view)))


def _piles(words: HanabiWords, view: View) -> Table:
    colours = tuple(words.colour(c).capitalize() for c in range(len(view.piles)))
    done = words.game.ranks
    cells = tuple(Cell(str(h), "good" if h == done else "") for h in view.piles)
    return Table("Piles", colours, (Row("Highest card", cells),))


def _hands(words: HanabiWords, game: Hanabi, view: View) -> Table:
    """Return one row per hand, oldest card first, and below it what its holder was told."""
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
        short = tuple(
            Cell(_short(words, game, mark), note=what)
            for mark, what in zip(marks, told, strict=True)
        )
        rows.append(Row("told", short + blank))
    columns = tuple(words.say("slot", number=n).capitalize() for n in range(1, widest + 1))
    return Table("Hands, oldest card first", columns, tuple(rows))


def _short(words: HanabiWords, game: Hanabi, mark: int) -> str:
    """Return the colour and rank that hints have settled; what they ruled out is in the note."""
    colours = [c for c in range(game.colours) if mark >> c & 1]
    ranks = [r for r in range(game.ranks) if mark >> game.colours + r & 1]
    known = [words.colour(colours[0])] if len(colours) == 1 < game.colours else []
    known += [str(ranks[0] + 1)] if len(ranks) == 1 else []
    return " ".join(known) or "-"


def _facts(words: HanabiWords, game: Hanabi, view: View) -> Notes:
    gone = [words.card(card) for card, n in enumerate(view.gone) for _ in range(n)]
    return Notes(
        "Table",
        (
            Note("Hints", f"{view.tokens} of {game.hints}"),
            Note("Lives", f"{view.lives} of {game.lives}", "bad" if view.lives == 1 else ""),
            Note("Deck", str(view.left)),
            Note("Discarded", ", ".join(gone) or "none"),
        ),
    )


BOARD = board
