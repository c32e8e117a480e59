"""Partners that ignore the other seat's moves: one fixed move, uniform moves, fixed
probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.errors import BadInput
from sally.core.match.partner import Automaton, Line, by_name
from sally.core.rules.game import Seat
from sally.core.rules.probe import odds_problem
from sally.games.repeated_games.partners.basis import Odds, check_move, evenly, finite, surely
from sally.games.repeated_games.rules import RepeatedGame
from sally.players.mindless import Random


def _single_action(game: RepeatedGame, seat: Seat, action: int = 0) -> Automaton[int]:
    check_move(game, seat, "action", action)
    return Automaton(action, surely, lambda q, own_move, their: q)


def _mixed_automaton(
    game: RepeatedGame, seat: Seat, odds: Sequence[float] | None = None
) -> Automaton[int]:
    fixed = _given_odds(game, seat, odds)
    return Automaton(0, lambda q: fixed, lambda q, own_move, their: q)


def _given_odds(game: RepeatedGame, seat: Seat, odds: Sequence[float] | None) -> Odds:
    moves = game.moves_of(seat)
    if odds is None:
        return evenly(moves)
    if (problem := odds_problem(odds, len(moves))) is not None:
        raise BadInput(f"mixed: {problem}")
    return {move: odds[move] for move in moves if odds[move] > 0}


PARTNERS = by_name(
    finite(
        automaton=_single_action,
        memory=0,
        name="single_action",
        about="the same move in every round",
        source="Riemer et al. 2025",
        params={"action": 0},
        lines=(
            Line("JFJFF", "FFFFF", "ipd", {"action": 1}),
            Line("RPSRP", "SSSSS", "rps", {"action": 2}),
        ),
    ),
    finite(
        automaton=_mixed_automaton,
        memory=0,
        name="random",
        about="any move, each as likely as any other, in every round",
        source="the equilibrium of rps: von Neumann 1928",
        answers=lambda game, seat: Random().report,
        lines=(Line("RPSRP", "?????", "rps"),),
    ),
    finite(
        automaton=_mixed_automaton,
        memory=0,
        name="mixed",
        about="fixed odds in every round (`odds`, one number per move; uniform by default)",
        source="von Neumann 1928",
        params={"odds": None},
        lines=(
            Line("JFJFF", "FFFFF", "ipd", {"odds": (0.0, 1.0)}),
            Line("RPSRP", "?????", "rps", {"odds": (0.6, 0.3, 0.1)}),
        ),
    ),
)
