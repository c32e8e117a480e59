"""Partners that answer in kind: tit for tat and its relatives."""

from __future__ import annotations

from functools import partial

from sally.core.errors import BadInput
from sally.core.match.partner import Automaton, Line, Partner, Script, by_name
from sally.core.rules.game import Seat
from sally.games.repeated_games.partners.basis import (
    Odds,
    RoundTurn,
    check_chance,
    check_copies,
    check_move,
    finite,
    reply,
    surely,
)
from sally.games.repeated_games.rules import RepeatedGame, other_seat


def _tit_for_tat(game: RepeatedGame, seat: Seat, first: int | None = None) -> Script:
    """Return the script, written out because so many matches are played with it."""
    check_copies(game, seat, "tit_for_tat")
    opening = reply(game, seat, 0) if first is None else first
    check_move(game, seat, "first", opening)
    replies = [reply(game, seat, other_move) for other_move in game.moves_of(other_seat(seat))]

    def tit_for_tat(turn: RoundTurn) -> int:
        last = turn.view.last
        return opening if last is None else replies[last[1]]

    return tit_for_tat


def _tit_for_tat_automaton(
    game: RepeatedGame, seat: Seat, first: int | None = None
) -> Automaton[int]:
    """Return the automaton; its state is its own next move."""
    opening = reply(game, seat, 0) if first is None else first
    check_move(game, seat, "first", opening)
    return Automaton(opening, surely, lambda q, own_move, their: reply(game, seat, their))


def _forgiving(last: int, kind: int, generosity: float) -> Odds:
    """Return a copy of the other seat's last move or, with probability `generosity`, the
    cooperative move `kind`."""
    if last == kind:
        return surely(kind)
    odds = {kind: generosity, last: 1 - generosity}
    return {move: p for move, p in sorted(odds.items()) if p > 0}


def _generous(
    game: RepeatedGame, seat: Seat, generosity: float = 1 / 3, kind: int = 0
) -> Automaton[int]:
    """Return the automaton; its state is the other seat's last move."""
    check_copies(game, seat, "generous_tit_for_tat")
    check_chance("generosity", generosity)
    check_move(game, seat, "kind", kind)
    replies = [_forgiving(other_move, kind, generosity) for other_move in game.moves_of(seat)]
    return Automaton(kind, replies.__getitem__, lambda last, own_move, their: their)


def _two_tats(game: RepeatedGame, seat: Seat, kind: int = 0) -> Automaton[tuple[int | None, int]]:
    """Return the automaton; its state is the other seat's last move and the automaton's own next
    move."""
    check_copies(game, seat, "tit_for_two_tats")
    check_move(game, seat, "kind", kind)
    return Automaton(
        (None, kind),
        lambda q: surely(q[1]),
        lambda q, own_move, their: (their, their if their == q[0] else kind),
    )


def _grim(game: RepeatedGame, seat: Seat, kind: int = 0, harsh: int = 1) -> Automaton[bool]:
    """Return the automaton; its state is whether the other seat has played the move `kind` in
    every round."""
    check_move(game, seat, "kind", kind)
    check_move(game, seat, "harsh", harsh)
    return Automaton(
        True,
        lambda trusts: surely(kind if trusts else harsh),
        lambda trusts, own_move, their: trusts and their == kind,
    )


def _aspiration_level(game: RepeatedGame, seat: Seat, aspiration: float | None) -> float:
    """Return the payoff at which a round counts as won: the mean payoff unless `aspiration` is
    given; raise BadInput if it is not a number."""
    if aspiration is not None:
        if not isinstance(aspiration, int | float):
            raise BadInput(f"aspiration must be a number, not {aspiration!r}")
        return aspiration
    pays = [
        game.pay(seat, m, t) for m in game.moves_of(seat) for t in game.moves_of(other_seat(seat))
    ]
    return sum(pays) / len(pays)


def _win_stay(
    game: RepeatedGame, seat: Seat, first: int = 0, aspiration: float | None = None
) -> Automaton[int]:
    """Return the automaton; its state is the automaton's own next move."""
    check_move(game, seat, "first", first)
    enough, moves = _aspiration_level(game, seat, aspiration), len(game.moves_of(seat))

    def next_move(now: int, own_move: int, their: int) -> int:
        return own_move if game.pay(seat, own_move, their) >= enough else (own_move + 1) % moves

    return Automaton(first, surely, next_move)


PARTNERS = by_name(
    Partner(
        make=_tit_for_tat,
        automaton=_tit_for_tat_automaton,
        memory=1,
        name="tit_for_tat",
        about="returns the other's last move; in a zero-sum game, the move that beats it",
        source="Axelrod 1980; Riemer et al. 2025",
        params={"first": None},
        lines=(
            Line("JFJFF", "JJFJF", "ipd"),
            Line("JFJFF", "FJFJF", "ipd", {"first": 1}),
            Line("JFJFF", "JJFJF", "ibs"),
            Line("RPSRP", "PPSRP", "rps"),
        ),
    ),
    Partner(
        make=partial(_tit_for_tat, first=1),
        automaton=partial(_tit_for_tat_automaton, first=1),
        memory=1,
        name="suspicious_tit_for_tat",
        about="tit for tat that opens with `first`, 1 unless given: defection in ipd",
        source="Boyd and Lorberbaum 1987",
        params={"first": 1},
        lines=(Line("JFJFF", "FJFJF", "ipd"), Line("RPSRP", "PPSRP", "rps")),
    ),
    finite(
        automaton=_generous,
        memory=1,
        name="generous_tit_for_tat",
        about="copies the other's last move, but plays `kind` instead with some chance",
        # 1/3 is their value for Axelrod's payoffs 5, 3, 1, 0
        source="Nowak and Sigmund 1992",
        params={"generosity": 1 / 3, "kind": 0},
        lines=(
            Line("JFJFF", "JJFJF", "ipd", {"generosity": 0.0}),
            Line("JFJFF", "JJJJJ", "ipd", {"generosity": 1.0}),
            Line("JFJFJ", "JJ?J?", "ipd"),
        ),
    ),
    finite(
        automaton=_two_tats,
        memory=2,
        name="tit_for_two_tats",
        about="answers a move that came twice in a row with the same, else plays `kind`",
        source="Axelrod 1980",
        params={"kind": 0},
        lines=(Line("JFJFFFJ", "JJJJJFF", "ipd"), Line("RPPSSS", "RRRPRS", "rps")),
    ),
    finite(
        automaton=_grim,
        memory=None,
        name="grim_trigger",
        about="plays `kind` until the other once does not, then always `harsh`",
        source="Friedman 1971",
        params={"kind": 0, "harsh": 1},
        lines=(
            Line("JJFJJJ", "JJJFFF", "ipd"),
            Line("RRSRR", "RRRSS", "rps", {"harsh": 2}),
        ),
    ),
    finite(
        automaton=_win_stay,
        memory=1,
        name="win_stay_lose_shift",
        about="repeats a move that paid its `aspiration` or more (its mean payoff unless "
        "given), else takes the next",
        source="Robbins 1952; Nowak and Sigmund 1993",
        params={"first": 0, "aspiration": None},
        lines=(
            Line("JFJFFJ", "JJFFJF", "ipd"),
            Line("JFFJJ", "JJFFJ", "ibs"),
            Line("RPSRP", "RRPSR", "rps"),
        ),
    ),
)
