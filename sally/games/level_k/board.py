"""The board of level-k games: the boxes or the payoffs, and the rounds so far."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Box,
    Cell,
    Lockers,
    Note,
    Notes,
    Part,
    Reveal,
    Row,
    Showdown,
    Side,
    Table,
)
from sally.core.rules.replay import Trajectory
from sally.core.rules.simultaneous import (
    Moves,
    State,
    compare_points,
    name_others,
    others_of,
    progress_of,
)
from sally.games.level_k.payoffs import Boxes, Contest, Pennies, Request
from sally.games.level_k.rules import LevelGame, View
from sally.games.level_k.solvers import pay_table

SHOWN = 12  # rounds drawn; the history beside the board has them all
MOST_ROWS = 4  # other players that have a row of their own; of more, the mean is shown


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the board: a picture of the game being played, and the latest rounds side by side."""
    game = context.game
    assert isinstance(game, LevelGame)
    parts: list[Part] = [_picture(context, game, view)]
    progress = progress_of(game, view)
    if len(view.past):
        last = next(iter(view.rounds(len(view.past) - 1)))
        if last is not None and len(game.seats) <= MOST_ROWS:
            parts.insert(0, _showdown(context, game, view, last))
        if game.rounds > 1 or len(parts) == 1:  # else the choices face to face say it all
            parts.append(_rounds(context, game, view))
    return Board(tuple(parts), progress=progress)


def _showdown(context: SeatContext, game: LevelGame, view: View, last: Moves) -> Showdown:
    """Return the choices of the last round with their points, the seat's own first."""
    return Showdown(f"Round {len(view.past)}", _sides(context, game, last, view.number))


def _sides(context: SeatContext, game: LevelGame, moves: Moves, number: int) -> tuple[Side, ...]:
    """Return the choices of a round with their points, those of a player first."""
    paid, order = game.round_payoffs(moves), sorted(range(len(moves)), key=lambda n: n != number)
    names = ["You", *name_others(game, number)]
    return tuple(
        Side(
            name,
            context.beside(game.seats[n]).words.name(moves[n]),
            _points_text(game, paid[n]),
            "yours" if n == number else "",
        )
        for name, n in zip(names, order, strict=True)
    )


def _points_text(game: LevelGame, points: float) -> str:
    number = f"{points:+.4g}" if isinstance(game.pays, Pennies) else f"{points:.4g}"
    return f"{number} {'point' if abs(points) == 1 else 'points'}"


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return the last rounds and, in one sentence, how the points were distributed."""
    game = replay.rules(LevelGame)
    view = game.observe(replay.present, context.seat)
    sentence = f"{compare_points(game, view)} {_reason(game, view)}".strip()
    return Reveal(sentence, parts=BOARD(context, view).parts)


def _reason(game: LevelGame, view: View) -> str:
    """Return one sentence about what decided the points, for the last round if that is needed."""
    last = next(iter(view.rounds(len(view.past) - 1)), None)
    match game.pays:
        case Boxes():
            role = "sought" if view.number else "hid"
            return f"You {role} the prize: the same box pays the seeker, different boxes the hider."
        case Request(gap=gap) if last is not None and game.rounds == 1:
            request, (rival_request,) = last[view.number], others_of(last, view.number)
            if request == rival_request - gap:
                return f"You asked for exactly {gap} less than the other, so you got the bonus."
            if rival_request == request - gap:
                return f"The other asked for exactly {gap} less than you and got the bonus."
            return f"Neither of you asked for exactly {gap} less, so there was no bonus."
        case Contest(share=share) if last is not None and game.rounds == 1:
            goal = float(game.pays.fraction) * sum(last) / len(last)
            return f"The goal, {share} of the mean, was {goal:.4g}."
    return ""


def _picture(context: SeatContext, game: LevelGame, view: View) -> Part:
    match game.pays:
        case Boxes(labels=labels):
            boxes = tuple(Box(f"Box {n}", label) for n, label in enumerate(labels, 1))
            return Lockers("The boxes; both players see the labels", boxes)
        case Pennies():
            return _payoffs(context, game, view)
        case Request(low=low, high=high, bonus=bonus, gap=gap):
            return Notes(
                "What a round pays",
                (
                    Note("You get", f"what you ask for, {low} to {high}"),
                    Note("Bonus", f"{bonus:g} if you ask for exactly {gap} less than the other"),
                ),
            )
        case Contest(share=share, prize=prize, players=players):
            return Notes(
                "What a round pays",
                (
                    Note("Goal", f"{share} of the mean of all {players} numbers"),
                    Note("Prize", f"{prize:g} points for the nearest"),
                ),
            )


def _payoffs(context: SeatContext, game: LevelGame, view: View) -> Table:
    (them,) = game.others(view.seat)
    own_pays, other_pays = pay_table(game, view.seat), pay_table(game, them)
    names = [context.words.name(move) for move in game.menu(view.seat)]
    rows = tuple(
        Row(
            name,
            tuple(Cell(f"{own_pays[i, j]:+g} / {other_pays[j, i]:+g}") for j in (0, 1)),
            "yours",
        )
        for i, name in enumerate(names)
    )
    return Table("What a round pays: you / the other player", tuple(names), rows, "You ↓ other →")


def _rounds(context: SeatContext, game: LevelGame, view: View) -> Table:
    """Return the latest rounds, one per column; a void round shows no moves."""
    first = max(0, len(view.past) - SHOWN)
    latest = list(view.rounds(first))
    void = Cell("–", "hidden", "not played")
    n = len(game.seats)
    own_cells = [void if m is None else Cell(context.words.name(m[view.number])) for m in latest]
    rows = [Row("You", tuple(own_cells), "yours")]
    if n - 1 <= MOST_ROWS:
        for i in range(n - 1):
            cells = [
                void if m is None else Cell(context.words.name(others_of(m, view.number)[i]))
                for m in latest
            ]
            rows.append(Row(name_others(game, view.number)[i], tuple(cells)))
    if isinstance(game.pays, Contest):
        share = float(game.pays.fraction)
        goal = [void if m is None else Cell(f"{share * sum(m) / n:.1f}") for m in latest]
        rows.append(Row("Goal", tuple(goal), "goal"))
    paid = [
        void if m is None else Cell(f"{game.round_payoffs(m)[view.number]:.4g}") for m in latest
    ]
    rows.append(Row("You earned", tuple(paid)))
    numbers = tuple(str(first + i + 1) for i in range(len(latest)))
    return Table("The latest rounds", numbers, tuple(rows), "Round")


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a round and what it paid."""
    game = context.game
    assert isinstance(game, LevelGame)
    if len(game.seats) > MOST_ROWS:
        return ()
    number = game.seats.index(context.seat)
    match game.pays:
        case Request(high=high, gap=gap):
            moves, caption = [high - gap, high], f"you asked for {gap} less than the other"
        case Contest(low=low, high=high):
            step = (high - low) // (len(game.seats) + 1)
            moves = [low + step * (n + 1) for n in range(len(game.seats))]
            goal = float(game.pays.fraction) * sum(moves) / len(moves)
            caption = f"the goal is {goal:.4g}, and {moves[0]} is the nearest"
        case Boxes() | Pennies():
            menus = [game.menu(seat) for seat in game.seats]
            moves = [menu[0 if seat == number else 1] for seat, menu in enumerate(menus)]
            caption = "a round"
    if isinstance(game.pays, Request | Contest):
        moves = [*moves[1 : number + 1], moves[0], *moves[number + 1 :]]
    sides = _sides(context, game, tuple(moves), number)
    return (Showdown(f"Example: {caption}", sides),)
