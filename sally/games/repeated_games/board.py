"""The board of repeated games: payoffs from the seat's own perspective, and the rounds so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Part, Progress, Reveal, Row, Showdown, Side, Table
from sally.core.rules.game import Seat
from sally.core.rules.replay import Trajectory
from sally.games.repeated_games.rules import RepeatedGame, State, View, other_seat

Say = Callable[[str], str]  # a sentence of the game's words, by its key
Last = tuple[int, int] | None  # the moves of the previous round, the seat's own first
SHOWN = 8  # rounds drawn; the history beside the board has them all


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board: the payoff matrix with the cell of the last round marked, and the latest
    rounds side by side."""
    game = context.game
    assert isinstance(game, RepeatedGame)
    say = context.words.say
    texts = say("board.pays"), say("board.you_down"), say("board.last")
    payoffs = _payoffs(game, view.seat, view.last, texts)
    played = [moves for moves in view.rounds(0) if moves is not None]
    score = sum(game.pay(view.seat, *moves) for moves in played)
    total = 0 if game.stop_chance else game.rounds
    number = min(view.round, game.rounds)
    progress = Progress(number, total, score=_points(game, score) if played else "")
    if not len(view.past):
        return Board((payoffs,), progress=progress)
    rounds = _rounds(game, view, say)
    last = next(iter(view.rounds(len(view.past) - 1)))
    if last is None:
        return Board((payoffs, rounds), progress=progress)
    return Board((_showdown(game, view, last, say), payoffs, rounds), progress=progress)


def _showdown(game: RepeatedGame, view: View, last: tuple[int, int], say: Say) -> Showdown:
    """Return the choices of the last round with their points."""
    own_move, other_move = last
    them = other_seat(view.seat)
    own_points, other_points = (
        game.pay(view.seat, own_move, other_move),
        game.pay(them, other_move, own_move),
    )
    sides = (
        Side(
            say("board.you"), game.names_of(view.seat)[own_move], _points(game, own_points), "yours"
        ),
        Side(say("board.other"), game.names_of(them)[other_move], _points(game, other_points)),
    )
    return Showdown(f"{say('board.round')} {len(view.past)}", sides)


def _points(game: RepeatedGame, points: float) -> str:
    return format(points, "+g" if game.signed else "g") if points else "0"


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return how often each player chose what, and what that paid."""
    game, me = replay.rules(RepeatedGame), context.seat
    view = game.observe(replay.present, me)
    played = [moves for moves in view.rounds(0) if moves is not None]
    own_names, other_names = game.names_of(me), game.names_of(other_seat(me))
    counts = tuple(
        Row(
            own_names[i],
            tuple(Cell(str(played.count((i, j)))) for j in range(len(other_names))),
            "yours",
        )
        for i in range(len(own_names))
    )
    say = context.words.say
    own_points = sum(game.pay(me, *moves) for moves in played)
    other_points = sum(game.pay(other_seat(me), *moves[::-1]) for moves in played)
    rounds = "round" if len(played) == 1 else "rounds"
    comparison = (
        "more than"
        if own_points > other_points
        else "less than"
        if own_points < other_points
        else "as much as"
    )
    explanation = (
        f"Over {len(played)} {rounds} you got {_points(game, own_points)}, {comparison} the other "
        f"player ({_points(game, other_points)})."
    )
    table = Table(
        "How often each pair of choices came up", other_names, counts, say("board.you_down")
    )
    return Reveal(explanation, parts=(*BOARD(context, view).parts, table))


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


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a round in which the players chose differently."""
    game, me, say = context.game, context.seat, context.words.say
    assert isinstance(game, RepeatedGame)
    them = other_seat(me)
    own_points, other_points = game.pay(me, 1, 0), game.pay(them, 0, 1)
    sides = (
        Side(
            say("board.you"), game.names_of(me)[1], f"{_points(game, own_points)} for you", "yours"
        ),
        Side(
            say("board.other"),
            game.names_of(them)[0],
            f"{_points(game, other_points)} for the other",
        ),
    )
    return (Showdown("Example of a round", sides),)
