"""Where a round's loss comes from: a quote not foreseen, one foreseen and not used, none given."""

from __future__ import annotations

from sally.core.game import Seat
from sally.core.metric import Played, Terms, terms_of
from sally.games.bargaining.metrics import game_of, table
from sally.games.bargaining.rules import SEATS, State, gain, other, round_gain
from sally.games.bargaining.spec import best_replies, limit_of


def LOSSES(played: Played, seat: Seat) -> Terms:
    """The mean losses of the rounds with a prediction, against what the other really quoted."""
    parts = []
    for step in played.replay.steps():
        mine, theirs = step.moves.get(seat), step.moves.get(other(seat))
        if step.forfeited or not (isinstance(mine, int) and isinstance(theirs, int)):
            continue
        said = played.replay.report(step.turn, seat, "their_quote", other(seat))
        if said is None or not isinstance(said.value, int):
            continue
        view = played.replay.view(step.turn, seat)
        replies = best_replies(game_of(played), view, said.value)
        if not replies or view.limit is None:
            continue
        best = max(0.0, gain(seat, view.limit, theirs))
        loss = {q: best - round_gain(seat, view.limit, q, theirs) for q in {*replies, mine}}
        hoped = max(0.0, gain(seat, view.limit, said.value))
        given_up = hoped - round_gain(seat, view.limit, mine, said.value)
        inferred = loss[mine] if mine in replies else sum(loss[q] for q in replies) / len(replies)
        parts.append((inferred, given_up, loss[mine]))
    return terms_of(parts, _format_loss(played, seat))


def _format_loss(played: Played, seat: Seat) -> float | None:
    """What meeting the other's quote would have paid where this seat alone gave none, a round."""
    state: State = played.replay.present
    limit = limit_of(state, seat)
    if limit is None or table(played, seat) is None:
        return None
    missed = 0.0
    for step in played.replay.steps():
        theirs = step.moves.get(other(seat))
        if step.forfeited == (seat,) and isinstance(theirs, int) and set(SEATS) >= {seat}:
            missed += max(0.0, gain(seat, limit, theirs))
    return missed / len(state.past) if len(state.past) else None
