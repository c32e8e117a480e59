"""Metrics of the ambiguity game: the outcome of a clue."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.toma.ag.game import Ambiguity
from sally.games.toma.metrics import TOM_ACCURACY_PUBLISHED


def _ended_as(outcome: str) -> Callable[[Played, Seat], float | None]:
    """Return a measure that is 1 if the game had this outcome and 0 otherwise; None without a
    clue."""

    def measure(played: Played, seat: Seat) -> float | None:
        game = played.replay.rules(Ambiguity)
        actual_outcome = game.outcome(played.replay.states[-1])
        return None if actual_outcome is None else float(actual_outcome == outcome)

    return measure


METRICS = (
    TOM_ACCURACY_PUBLISHED,
    Metric(
        name="clue_won",
        bounds=(0, 1),
        about="1 if the teammate found the word and the opponent did not (kang2026)",
        measure=_ended_as("win"),
        better="higher",
        headline=True,
    ),
    Metric(
        name="clue_missed",
        about="1 if neither found the word (kang2026)",
        measure=_ended_as("miss"),
        unit="share",
        better="",
    ),
    Metric(
        name="clue_leaked",
        about="1 if both found the word (kang2026)",
        measure=_ended_as("leak"),
        unit="share",
        better="lower",
        headline=True,
    ),
    Metric(
        name="clue_lost",
        about="1 if only the opponent found the word (kang2026)",
        measure=_ended_as("loss"),
        unit="share",
        better="lower",
    ),
)
