"""What each round of a repeated game gave up.

Against an automaton, a move is worth what it pays on average in its round, by the odds of the
automaton's state, and what optimal play gets from there on. Against anybody else the round alone
counts, by what the other really did.
"""

from __future__ import annotations

import numpy as np

from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played
from sally.games.repeated_games import rounds
from sally.games.repeated_games.optimum import SAME, Floats, pay_table

EXACT = "optimal play against this partner, exactly"
ROUND = "this round alone, by what the other did"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Every round in which the seat was to move."""
    found = rounds.automaton_of(played, seat)
    return _of_rounds(played, seat) if found is None else _exact(played, seat)


def _exact(played: Played, seat: Seat) -> list[Cost]:
    costs = []
    for each, worth, void in rounds.expected_ahead(played, seat):
        got = void if each.mine is None else float(worth[each.mine])
        if each.mine is not None and each.theirs is None:
            continue  # the other forfeited: nothing that was done here counted
        costs.append(Cost(each.turn, _loss(worth, got), _best(worth), EXACT))
    return costs


def _of_rounds(played: Played, seat: Seat) -> list[Cost]:
    pay = pay_table(rounds.rules(played), seat)
    costs = []
    for each in rounds.rounds(played, seat):
        if each.theirs is None:
            continue
        worth = pay[:, each.theirs]
        got = 0.0 if each.mine is None else float(worth[each.mine])
        costs.append(Cost(each.turn, _loss(worth, got), _best(worth), ROUND))
    return costs


def _loss(worth: Floats, got: float) -> float:
    lost = float(worth.max()) - got
    return 0.0 if abs(lost) <= SAME * max(1.0, float(np.abs(worth).max())) else lost


def _best(worth: Floats) -> tuple[int, ...]:
    slack = SAME * max(1.0, float(np.abs(worth).max()))
    return tuple(int(m) for m in np.flatnonzero(worth >= worth.max() - slack))
