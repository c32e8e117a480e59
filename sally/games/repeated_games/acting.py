"""Which moves of a repeated game are best replies to what their maker had predicted.

Against an automaton, best is by the optimal plan given the prediction; else by the round alone.
"""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.repeated_games.losses import beside_predictions
from sally.metrics.consistency import Acted


def ACTING(played: Played, seat: Seat) -> list[Acted]:
    """Every round with a readable prediction in which the seat moved."""
    return [
        Acted(each.turn, each.mine in each.best, len(each.best) / len(each.table))
        for each in beside_predictions(played, seat)
    ]
