"""Whether a seat acts on what it predicts, right or wrong."""

from __future__ import annotations

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.own_predictions import beliefs


def _measure(played: Played, seat: Seat) -> float | None:
    """The share of moves that are among the best replies to the seat's own predictions."""
    rational = played.spec.best_replies
    found = []
    for turn, belief in beliefs(played, seat):
        replies = rational and rational(played.replay.game, played.replay.view(turn, seat), belief)
        if replies is not None:
            found.append(played.replay.move(turn, seat) in replies)
    return sum(found) / len(found) if found else None


METRIC = Metric(
    name="action_consistency",
    about="share of moves that are rational given one's own predictions, true or not (kang2026)",
    measure=_measure,
    games=("toma_po", "toma_mg"),
    better="higher",
    headline=True,
)
