"""Behavioural metrics that are not payoffs: wins, move shares, conditional rates.

A conditional metric counts the rounds in which its condition held (`of`) and those in which the
behaviour followed (`times`); it has no value if the condition never held. Conditions look at the
previous round, so they hold only if that round was played and not void.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import inf

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat
from sally.games.repeated_games.rounds import (
    cells,
    is_finished,
    not_decided,
    pays_of,
    rounds,
    rules,
    table_rounds,
)
from sally.games.repeated_games.rules import Joint, RepeatedGame, other_seat

KIND, HARSH = 0, 1  # in a dilemma: to cooperate, to defect


class Rate(msgspec.Struct, frozen=True):
    """A rate: how often a behaviour occurred, out of the rounds in which it was possible."""

    times: int
    of: int

    @property
    def share(self) -> float | None:
        return self.times / self.of if self.of else None


Counted = Callable[[Played, Seat], Rate | None]


@lru_cache(maxsize=256)
def is_dilemma(game: RepeatedGame) -> bool:
    """Return whether the game is a prisoner's dilemma for both seats, with move 0 as
    cooperation."""
    if any(len(game.moves_of(seat)) != 2 for seat in game.seats):
        return False
    pays = [[game.pay(s, m, t) for m, t in ((1, 0), (0, 0), (1, 1), (0, 1))] for s in game.seats]
    return all(tempted > mutual > neither > alone for tempted, mutual, neither, alone in pays)


@lru_cache(maxsize=256)
def is_coordination(game: RepeatedGame) -> bool:
    """Return whether the game is a 2x2 coordination game: matching the other's move is always
    better."""
    if any(len(game.moves_of(seat)) != 2 for seat in game.seats):
        return False
    return all(
        game.pay(seat, m, m) > game.pay(seat, 1 - m, m) for seat in game.seats for m in (0, 1)
    )


@cache_by_seat
def consecutive_rounds(played: Played, seat: Seat) -> list[tuple[int, Joint, Joint]]:
    """Return (index, previous, current) for each round that follows a played round."""
    marked = not_decided(played, seat)
    joint_moves = [
        (
            r.turn in marked,
            None if r.own_move is None or r.other_move is None else (r.own_move, r.other_move),
        )
        for r in table_rounds(played, seat)
    ]
    return [
        (index, last, now)
        for index, ((_, last), (skipped, now)) in enumerate(pairwise(joint_moves), 1)
        if last is not None and now is not None and not skipped
    ]


@cache_by_seat
def _dilemma_after(played: Played, seat: Seat) -> list[tuple[int, Joint, Joint]] | None:
    """Return the result of `after` (each joint move with the one that follows it) for a finished
    prisoner's dilemma; None otherwise."""
    return (
        consecutive_rounds(played, seat)
        if is_finished(played) and is_dilemma(rules(played))
        else None
    )


def retaliation(played: Played, seat: Seat) -> Rate | None:
    """Return how often the seat answers defection with defection; None outside a prisoner's
    dilemma."""
    if (pairs := _dilemma_after(played, seat)) is None:
        return None
    responses = [now[0] == HARSH for _, last, now in pairs if last[1] == HARSH]
    return Rate(sum(responses), len(responses))


def forgiveness(played: Played, seat: Seat) -> Rate | None:
    """Return how often the seat cooperates after the other seat cooperated, counted from the
    other seat's first defection on."""
    if (pairs := _dilemma_after(played, seat)) is None:
        return None
    since = _first_defection(played, seat)
    responses = [now[0] == KIND for index, last, now in pairs if last[1] == KIND and index > since]
    return Rate(sum(responses), len(responses))


def _first_defection(played: Played, seat: Seat) -> float:
    """Return the index of the other seat's first defection, counting void rounds; infinity if
    that seat never defected."""
    other_moves = [r.other_move for r in table_rounds(played, seat)]
    return other_moves.index(HARSH) if HARSH in other_moves else inf


def exploitation(played: Played, seat: Seat) -> Rate | None:
    """Return how often the seat defects again after it defected and the other seat cooperated."""
    if (pairs := _dilemma_after(played, seat)) is None:
        return None
    responses = [now[0] == HARSH for _, last, now in pairs if last == (HARSH, KIND)]
    return Rate(sum(responses), len(responses))


def alternation(played: Played, seat: Seat) -> Rate | None:
    """Return how often a coordinated round is followed by coordination on the other move."""
    if not is_finished(played) or not is_coordination(rules(played)):
        return None
    turns = [
        now[0] == now[1] != last[0]
        for _, last, now in consecutive_rounds(played, seat)
        if last[0] == last[1]
    ]
    return Rate(sum(turns), len(turns))


# --- plain shares ---------------------------------------------------------------------------------


def win_rate(played: Played, seat: Seat) -> float | None:
    """Return the share of all rounds, including void ones, in which the seat was paid more than the
    other."""
    if not is_finished(played):
        return None
    game, cell_counts = rules(played), cells(played, seat)
    everything = len(rounds(played, seat))
    own_pays, other_pays = pays_of(game, seat), pays_of(game, other_seat(seat))
    won = [n for (m, t), n in cell_counts.items() if own_pays[m][t] > other_pays[t][m]]
    return sum(won) / everything if everything else None


@cache_by_seat
def _move_shares(played: Played, seat: Seat) -> dict[int, float]:
    """Return the share of each move in the played rounds; empty if the episode is not finished."""
    cell_counts = cells(played, seat) if is_finished(played) else {}
    if not (n_rounds := sum(cell_counts.values())):
        return {}
    counts = dict.fromkeys(rules(played).moves_of(seat), 0)
    for (own_move, _), n in cell_counts.items():
        counts[own_move] += n
    return {move: n / n_rounds for move, n in counts.items()}


@cache_by_seat
def _joint_shares(played: Played, seat: Seat) -> dict[Joint, float]:
    """Return the share of each cell of the matrix in the played rounds."""
    cell_counts = cells(played, seat) if is_finished(played) else {}
    if not (n_rounds := sum(cell_counts.values())):
        return {}
    game = rules(played)
    own_moves, other_moves = game.moves_of(seat), game.moves_of(other_seat(seat))
    return {(m, t): cell_counts.get((m, t), 0) / n_rounds for m in own_moves for t in other_moves}


def move_share(move: int) -> Callable[[Played, Seat], float | None]:
    """Return a metric: the seat's share of this move in the played rounds."""
    return lambda played, seat: _move_shares(played, seat).get(move)


def joint_move_share(own_move: int, other_move: int) -> Callable[[Played, Seat], float | None]:
    """Return a metric: the share of this cell of the matrix in the played rounds."""
    cell = (own_move, other_move)
    return lambda played, seat: _joint_shares(played, seat).get(cell)


def same_move_share(played: Played, seat: Seat) -> float | None:
    """Return the share of rounds in which both seats made the move with the same number."""
    cell_counts = cells(played, seat)
    n_same = sum([n for (own_move, other_move), n in cell_counts.items() if own_move == other_move])
    return n_same / sum(cell_counts.values()) if cell_counts and is_finished(played) else None


# --- as metrics -----------------------------------------------------------------------------------


def _conditional(rate: Counted, about: str) -> Metric:
    def measure(played: Played, seat: Seat) -> float | None:
        measured_rate = rate(played, seat)
        return None if measured_rate is None else measured_rate.share

    return Metric(rate.__name__, about, measure, unit="share")


METRICS = (
    _conditional(retaliation, "in a dilemma: defects right after the other defected"),
    _conditional(
        forgiveness,
        "in a dilemma, after the other's first defection: cooperates right after the other did",
    ),
    _conditional(
        exploitation,
        "in a dilemma: defects again after a defection that the other met with cooperation",
    ),
    _conditional(
        alternation, "in a coordination game: a meeting is followed by one at the other place"
    ),
    Metric(
        "win_rate",
        "rounds in which the seat got more than the other, of all rounds, void ones included",
        win_rate,
        unit="share",
    ),
    Metric(
        "same_move_share",
        "rounds in which both made the same move, of those played",
        same_move_share,
        unit="share",
    ),
    *(
        Metric(f"move_share_{m}", f"how often it made move {m}", move_share(m), unit="share")
        for m in range(3)
    ),
    *(
        Metric(
            f"joint_move_share_{m}{t}",
            f"how often it made move {m} and the other move {t}",
            joint_move_share(m, t),
            unit="share",
        )
        for m in range(3)
        for t in range(3)
    ),
)
