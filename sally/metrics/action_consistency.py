"""Whether a seat acts on what it predicts, right or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.games.toma.sw_rules import SpeakOrWait, consistent
from sally.metrics.own_predictions import beliefs


def _measure(played: Played, seat: Seat) -> float | None:
    """The share of moves that are rational given the seat's own predictions of that turn."""
    found = [
        fits
        for turn, belief in beliefs(played, seat)
        if (fits := _fits(played, seat, turn, belief)) is not None
    ]
    return sum(found) / len(found) if found else None


def _fits(played: Played, seat: Seat, turn: int, belief: Mapping[str, Any]) -> bool | None:
    replay, rational = played.replay, played.spec.best_replies
    if isinstance(replay.game, SpeakOrWait):  # acts are free text, so the rule is a predicate
        act = replay.move(turn, seat)
        return all(consistent(kind, act) for kind in belief.values()) if belief else None
    replies = rational and rational(replay.game, replay.view(turn, seat), belief)
    return None if replies is None else replay.move(turn, seat) in replies


METRIC = Metric(
    name="action_consistency",
    about="share of moves that are rational given one's own predictions, true or not (kang2026)",
    measure=_measure,
    games=("toma_po", "toma_mg", "toma_sw"),
    better="higher",
    headline=True,
)
