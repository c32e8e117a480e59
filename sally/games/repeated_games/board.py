"""What each pair of moves pays, from the seat's own side, and the rounds so far."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from weakref import WeakKeyDictionary

from sally.core.board import Board, Cell, Row, Table
from sally.core.desk import Desk
from sally.core.game import Seat
from sally.games.repeated_games.rules import RepeatedGame, View, other

Say = Callable[[str], str]  # a sentence of the game's words, by its key
Last = tuple[int, int] | None  # the moves of the round before, one's own first
SHOWN = 12  # rounds drawn; the history beside the board has them all


def board(desk: Desk, view: View) -> Board:
    """The payoffs, the last round marked in them, and the latest rounds in a row."""
    game = desk.game
    assert isinstance(game, RepeatedGame)
    said = desk.words.say
    known = _drawn.setdefault(desk, {})
    if (payoffs := known.get(view.last)) is None:
        payoffs = known[view.last] = _payoffs(game, view, said)
    return Board((payoffs, _rounds(game, view, said)) if len(view.past) else (payoffs,))


# What a desk's payoffs look like, by the last round: nothing else about them ever changes.
_drawn: WeakKeyDictionary[Desk, dict[Last, Table]] = WeakKeyDictionary()


def _payoffs(game: RepeatedGame, view: View, said: Say) -> Table:
    me, them = view.seat, other(view.seat)
    mine, theirs = _names(game, me), _names(game, them)
    rows = tuple(
        Row(name, tuple(_pays(game, view, said, i, j) for j, _ in theirs), "yours")
        for i, name in mine
    )
    columns = tuple(name for _, name in theirs)
    return Table(said("board.pays"), columns, rows, said("board.you_down"))


def _pays(game: RepeatedGame, view: View, said: Say, mine: int, theirs: int) -> Cell:
    sign = "+g" if game.signed else "g"
    me, them = (
        game.pay(view.seat, mine, theirs),
        game.pay(other(view.seat), theirs, mine),
    )
    text = f"{format(me, sign) if me else '0'} / {format(them, sign) if them else '0'}"
    last = view.last == (mine, theirs)
    return Cell(text, "last" if last else "", said("board.last") if last else "")


def _rounds(game: RepeatedGame, view: View, said: Say) -> Table:
    """The latest rounds, one a column; a void round has no moves to show."""
    first = max(0, len(view.past) - SHOWN)
    rounds = list(islice(view.rounds(first), SHOWN))
    mine, theirs = game.names_of(view.seat), game.names_of(other(view.seat))
    void = Cell("–", "hidden", said("board.void"))
    rows = (
        Row(
            said("board.you"),
            tuple(void if r is None else Cell(mine[r[0]]) for r in rounds),
            "yours",
        ),
        Row(said("board.other"), tuple(void if r is None else Cell(theirs[r[1]]) for r in rounds)),
    )
    numbers = tuple(str(first + n + 1) for n in range(len(rounds)))
    return Table(said("board.latest"), numbers, rows, said("board.round"))


def _names(game: RepeatedGame, seat: Seat) -> list[tuple[int, str]]:
    """A seat's moves with their names, in the order of the page."""
    names = game.names_of(seat)
    order = game.order if len(game.order) == len(names) else range(len(names))
    return [(move, names[move]) for move in order]


BOARD = board
