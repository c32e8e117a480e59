"""What each quote gave up: by exact play against a declared partner, else by the other's quote."""

from __future__ import annotations

import numpy as np

from sally.core.game import Seat
from sally.core.metric import Cost, Played
from sally.games.bargaining.metrics import solved, table
from sally.games.bargaining.rules import BUYER, HIGHEST, gain, round_gain
from sally.games.bargaining.solver import SAME, mirrored
from sally.games.bargaining.spec import best_replies

EXACT = "the partner's declared rule and limit, by exact play to the end"
DONE = "what the other quoted in this round"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Every quote of a seat in a round in which both quoted; messages are not judged."""
    at, found = table(played, seat), solved(played, seat)
    if at is None:
        return []
    turns = [
        step.turn
        for step in played.replay.steps()
        if not step.forfeited and type(step.moves.get(seat)) is int
    ]
    costs = []
    ask = 0 if found is None else found.rule.first(found.cost)
    for number, (turn, each) in enumerate(zip(turns, at.rounds, strict=False)):
        if found is None:
            best = best_replies_to(played, seat, turn, each.theirs)
            top = max(0.0, gain(seat, at.limit, each.theirs))
            lost = top - round_gain(seat, at.limit, each.mine, each.theirs)
            costs.append(Cost(turn, _positive(lost), best, DONE))
            continue
        bid = mirrored(seat != BUYER, each.mine)
        worth = found.bids(number, ask)
        best = tuple(
            mirrored(seat != BUYER, int(b)) for b in np.flatnonzero(worth >= worth.max() - SAME)
        )
        costs.append(Cost(turn, _positive(float(worth.max() - worth[bid])), best, EXACT))
        ask = found.rule.after(found.cost, ask, bid)
    return costs


def best_replies_to(played: Played, seat: Seat, turn: int, theirs: int) -> tuple[int, ...]:
    """Return the best quotes against one that was made."""
    view = played.replay.view(turn, seat)
    return best_replies(played.replay.game, view, theirs) or ()  # type: ignore[arg-type]


def _positive(lost: float) -> float:
    return lost if HIGHEST * lost > SAME else 0.0
