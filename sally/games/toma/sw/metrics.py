"""What came of a game of speak or wait."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.toma.metrics import TOM_ACCURACY_PUBLISHED
from sally.games.toma.sw.acts import EAVESDROPPER


def _won(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None or seat == EAVESDROPPER:
        return None
    return float(played.replay.states[-1].outcome == "win")


def _box_opened(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None or seat == EAVESDROPPER:
        return None
    return float(played.replay.states[-1].opened_in > 0)


def _caught(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(played.replay.states[-1].outcome == "loss")


def _collisions(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(sum(radio.kind == "noise" for radio in played.replay.states[-1].radio))


def _turns(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    return float(len(played.replay.states[-1].guide_acts))


METRICS = (
    TOM_ACCURACY_PUBLISHED,
    Metric(
        name="radio_won",
        bounds=(0, 1),
        about="1 if the explorer got the treasure; the mean is the win rate (kang2026)",
        measure=_won,
        better="higher",
        headline=True,
    ),
    Metric(
        name="radio_box_opened",
        about="1 if the box was opened; the mean is the box-open rate (kang2026)",
        measure=_box_opened,
        unit="share",
        better="higher",
        headline=True,
    ),
    Metric(
        name="radio_caught",
        bounds=(0, 1),
        about="1 if the eavesdropper guessed a cell; neither won nor caught: out of turns",
        measure=_caught,
        better="",
    ),
    Metric(
        name="radio_collisions",
        about="turns in which both spoke and nothing was heard (kang2026)",
        measure=_collisions,
        better="lower",
        unit="turns",
    ),
    Metric(
        name="radio_turns",
        about="turns until the end (kang2026)",
        measure=_turns,
        better="lower",
        unit="turns",
    ),
)
