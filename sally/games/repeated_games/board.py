"""The board of repeated games: payoffs from the seat's own perspective, and the rounds so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Row, Table
from sally.core.rules.game import Seat
from sally.games.repeated_games.rules import RepeatedGame, View, other_seat

Say = Callable[[str], str]  # a sentence of the game's words, by its key
Last = tuple[int, int] | None  # the moves of the previous round, the seat's own first
SHOWN = 12  # rounds drawn; the history beside the board has them all


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board: the payoff matrix with the cell of the last round marked, and the latest
    rounds side by side."""
    game = context.game
    assert isinstance(game, RepeatedGame)
    say = context.words.say
    texts = say("board.pays"), say("board.you_down"), say("board.last")
    payoffs = _payoffs(game, view.seat, view.last, texts)
    return Board((payoffs, _rounds(game, view, say)) if len(view.past) else (payoffs,))


@lru_cache(1000)  # in a study all players play the same few games
def _payoffs(game: RepeatedGame, me: Seat, last: Last, texts: tuple[str, str, str]) -> Table:
    caption, corner, note = texts
    own_names, other_names = _names(game, me), _names(game, other_seat(me))
    rows = tuple(
        Row(name, tuple(_pays(game, me, (i, j), last, note) for j, _ in other_names), "yours")
        for i, name in own_names
    )
    return Table(caption, tuple(name for _, name in other_names), rows, corner)


def _pays(game: RepeatedGame, me: Seat, moves: tuple[int, int], last: Last, note: str) -> Cell:
    sign = "+g" if game.signed else "g"
    own_pay, other_pay = game.pay(me, *moves), game.pay(other_seat(me), *moves[::-1])
    own_text = format(own_pay, sign) if own_pay else "0"
    text = f"{own_text} / {format(other_pay, sign) if other_pay else '0'}"
    return Cell(text, "last", note) if moves == last else Cell(text)


def _rounds(game: RepeatedGame, view: View, say: Say) -> Table:
    """Return the latest rounds, one per column; a void round shows no moves."""
    first = max(0, len(view.past) - SHOWN)
    rounds = list(islice(view.rounds(first), SHOWN))
    own_names, other_names = game.names_of(view.seat), game.names_of(other_seat(view.seat))
    void = Cell("–", "hidden", say("board.void"))
    rows = (
        Row(
            say("board.you"),
            tuple(void if r is None else Cell(own_names[r[0]]) for r in rounds),
            "yours",
        ),
        Row(
            say("board.other"),
            tuple(void if r is None else Cell(other_names[r[1]]) for r in rounds),
        ),
    )
    numbers = tuple(str(first + n + 1) for n in range(len(rounds)))
    return Table(say("board.latest"), numbers, rows, say("board.round"))


def _names(game: RepeatedGame, seat: Seat) -> list[tuple[int, str]]:
    """Return a seat's moves with their names, in the order of the prompt."""
    names = game.names_of(seat)
    order = game.order if len(game.order) == len(names) else range(len(names))
    return [(move, names[move]) for move in order]
