"""Partners for repeated matrix games."""

from __future__ import annotations

from sally.core.errors import BadInput
from sally.core.game import Seat
from sally.core.partner import Automaton, Line, Partner, Script
from sally.core.player import Turn
from sally.games.repeated_games.rules import RepeatedGame, View, other

RoundTurn = Turn[int, View]


# --- one move for ever --------------------------------------------------------------------------


def _single_action(game: RepeatedGame, seat: Seat, action: int = 0) -> Script:
    _check_move(game, seat, "action", action)
    return lambda turn: action


def _single_automaton(game: RepeatedGame, seat: Seat, action: int = 0) -> Automaton[int]:
    return Automaton(0, lambda q: {action: 1.0}, lambda q, own, their: q)


# --- the reply to the other's last move ---------------------------------------------------------


def _tit_for_tat(game: RepeatedGame, seat: Seat, first: int | None = None) -> Script:
    opening = _reply(game, seat, 0) if first is None else first
    _check_move(game, seat, "first", opening)
    replies = tuple(_reply(game, seat, theirs) for theirs in game.moves_of(other(seat)))

    def tit_for_tat(turn: RoundTurn) -> int:
        last = turn.view.last
        return opening if last is None else replies[last[1]]

    return tit_for_tat


def _reply(game: RepeatedGame, seat: Seat, theirs: int) -> int:
    """What the family answers to a move: its copy, or in a zero-sum game what beats it."""
    return game.best_replies(seat, theirs)[0] if game.is_zero_sum else theirs


def _tit_for_tat_automaton(
    game: RepeatedGame, seat: Seat, first: int | None = None
) -> Automaton[int]:
    opening = _reply(game, seat, 0) if first is None else first
    return Automaton(
        opening, lambda q: {q: 1.0}, lambda q, own, their: _reply(game, seat, their)
    )


def _check_move(game: RepeatedGame, seat: Seat, name: str, move: int) -> None:
    moves = game.moves_of(seat)
    if move not in moves:
        raise BadInput(f"{name} must be a move from 0 to {moves[-1]}, not {move}")


PARTNERS = {
    partner.name: partner
    for partner in (
        Partner(
            name="single_action",
            about="the same move in every round",
            source="Riemer et al. 2025",
            make=_single_action,
            automaton=_single_automaton,
            memory=0,
            params={"action": 0},
            lines=(
                Line("JFJFF", "FFFFF", "ipd", {"action": 1}),
                Line("RPSRP", "SSSSS", "rps", {"action": 2}),
            ),
        ),
        Partner(
            name="tit_for_tat",
            about="returns the other's last move; in a zero-sum game, the move that beats it",
            source="Axelrod 1980; Riemer et al. 2025",
            make=_tit_for_tat,
            automaton=_tit_for_tat_automaton,
            memory=1,
            params={"first": None},
            lines=(
                Line("JFJFF", "JJFJF", "ipd"),
                Line("JFJFF", "FJFJF", "ipd", {"first": 1}),
                Line("JFJFF", "JJFJF", "ibs"),
                Line("RPSRP", "PPSRP", "rps"),
            ),
        ),
    )
}
