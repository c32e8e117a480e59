"""Metrics of the game Speak or Wait: its outcome."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.toma.metrics import TOM_ACCURACY_PUBLISHED
from sally.games.toma.sw.rules import EAVESDROPPER, State


def _of_end(
    measure: Callable[[State], float], team_only: bool = False
) -> Callable[[Played, Seat], float | None]:
    """Return a measure of the final state; None for a censored episode and, with `team_only`, for
    the eavesdropper C."""

    def measure_end(played: Played, seat: Seat) -> float | None:
        if played.episode.payoffs is None or (team_only and seat == EAVESDROPPER):
            return None
        return float(measure(played.replay.states[-1]))

    return measure_end


METRICS = (
    TOM_ACCURACY_PUBLISHED,
    Metric(
        name="radio_won",
        bounds=(0, 1),
        about="1 if the explorer got the treasure; the mean is the win rate (kang2026)",
        measure=_of_end(lambda end: end.outcome == "win", team_only=True),
        better="higher",
        headline=True,
    ),
    Metric(
        name="radio_box_opened",
        about="1 if the box was opened; the mean is the box-open rate (kang2026)",
        measure=_of_end(lambda end: end.opened_in > 0, team_only=True),
        unit="share",
        better="higher",
        headline=True,
    ),
    Metric(
        name="radio_caught",
        bounds=(0, 1),
        about="1 if the eavesdropper guessed a cell; neither won nor caught: out of turns",
        measure=_of_end(lambda end: end.outcome == "loss"),
        better="",
    ),
    Metric(
        name="radio_collisions",
        about="turns in which both spoke and nothing was heard (kang2026)",
        measure=_of_end(lambda end: sum(radio.kind == "noise" for radio in end.radio)),
        better="lower",
        unit="turns",
    ),
    Metric(
        name="radio_turns",
        about="turns until the end (kang2026)",
        measure=_of_end(lambda end: len(end.guide_acts)),
        better="lower",
        unit="turns",
    ),
)
