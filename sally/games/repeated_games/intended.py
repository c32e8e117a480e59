"""What a seat got a round with void and unplayed rounds counted: nothing for them, or the most."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.repeated_games import rounds
from sally.games.repeated_games.spec import a_round


def INTENDED(played: Played, seat: Seat) -> tuple[float, float, float | None]:
    """A void round pays nothing by the rules; at best, what the best reply would have paid."""
    game, everything = rounds.rules(played), rounds.rounds(played, seat)
    most = a_round(game, seat)[1]
    earned = sum(rounds.rewards(played, seat))
    missed = sum(
        most if r.theirs is None else game.pay(seat, game.best_replies(seat, r.theirs)[0], r.theirs)
        for r in everything
        if r.mine is None
    )
    due = len(everything) if rounds.finished(played) else game.rounds
    unplayed = most * (due - len(everything))
    best = rounds.optimum_of(played, seat, due)
    return earned / due, (earned + missed + unplayed) / due, best
