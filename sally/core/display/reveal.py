"""The end of an episode with everything open: who got what, what was hidden, and why."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from sally.core.display.board import board_of
from sally.core.display.board_text import part_lines
from sally.core.display.scenes import named_move
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.board import Board, Cell, Note, Part, Reveal, Row, Table
from sally.core.rules.replay import Trajectory

Tells = Callable[[SeatContext, Trajectory], Reveal]
MOST_TURNS = 12  # turns in the table of moves of a game that declares no `REVEAL`


class SeatScore(msgspec.Struct, frozen=True):
    """What a seat got, and the most that it could have got, if the game declares that."""

    seat: str
    points: float
    most: float | None = None


class Ending(msgspec.Struct, frozen=True):
    """The end of an episode for one seat: the same on the page, in practice and at the keyboard."""

    scores: tuple[SeatScore, ...]  # the seat's own first
    why: str
    hidden: tuple[Note, ...]
    board: Board | None


def ending_of(context: SeatContext, replay: Trajectory) -> Ending:
    """Return the end of a finished episode as it is told to the context's seat.

    A game declares it as `REVEAL`, a function of the seat's context and the episode. The default
    shows the seat's last board, what the others' boards show beyond it, and all moves.
    """
    declared: Tells | None = registry.part(context.spec.name, "reveal")
    reveal = (declared or default_reveal)(context, replay)
    own_board = board_of(context, replay.view(len(replay), context.seat))
    parts = reveal.parts or (own_board.parts if own_board else ())
    board = Board(parts, progress=own_board.progress if own_board else None) if parts else None
    return Ending(_scores(context, replay), reveal.why, reveal.hidden, board)


def _scores(context: SeatContext, replay: Trajectory) -> tuple[SeatScore, ...]:
    paid, bounds = replay.game.payoffs(replay.present), context.spec.measured.pays
    order = sorted(replay.game.seats, key=lambda seat: seat != context.seat)
    return tuple(
        SeatScore(seat, paid[seat], None if bounds is None else bounds(replay.game, seat)[1])
        for seat in order
        if seat in paid
    )


def default_reveal(context: SeatContext, replay: Trajectory) -> Reveal:
    """Return the end of a game that declares no `REVEAL`."""
    last, form = len(replay), context.words.forms[0]
    lines = [s for s in context.words.lines(replay.view(last, context.seat), 0, form) if s]
    parts = list[Part]()
    for seat in sorted(replay.game.seats, key=lambda seat: seat != context.seat):
        board = board_of(context.beside(seat), replay.view(last, seat))
        parts += [part for part in (board.parts if board else ()) if part not in parts]
    return Reveal(lines[-1] if lines else "", parts=(*parts, moves_table(context, replay)))


def moves_table(context: SeatContext, replay: Trajectory) -> Table:
    """Return the last moves of all seats, one row per turn; each move is named by its mover."""
    seats = replay.game.seats
    words = {seat: context.beside(seat).words for seat in seats}
    turns = [moves for moves in replay.moves if any(seat in moves for seat in seats)]
    rows = tuple(
        Row(
            str(number),
            tuple(
                Cell(named_move(words[seat], seat, moves[seat]) if seat in moves else "–")
                for seat in seats
            ),
        )
        for number, moves in list(enumerate(turns, 1))[-MOST_TURNS:]
    )
    return Table("What everyone did", tuple(map(str, seats)), rows, "turn")


# --- as plain text ------------------------------------------------------------------------------


def ending_text(ending: Ending, board: Board | None = None) -> list[str]:
    """Return the end of an episode as lines for a terminal, without what the seat's own board
    already shows."""
    lines = [ending.why] if ending.why else []
    lines += [
        f"- {score.seat}: {score.points:g} of {score.most:g}"
        for score in ending.scores
        if score.most is not None
    ]
    lines += [f"- {note.label}: {note.text}" for note in ending.hidden]
    for part in ending.board.parts if ending.board else ():
        if board is None or part not in board.parts:
            lines += part_lines(part)
    return lines
