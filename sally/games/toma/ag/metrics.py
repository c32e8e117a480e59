"""What came of a clue."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.toma.ag.game import Ambiguity
from sally.games.toma.metrics import TOM_ACCURACY_PUBLISHED


def ended_as(played: Played, outcome: str) -> float | None:
    """1 if the clue ended like this, else 0; None where no clue was given or nobody guessed."""
    game = played.replay.game
    assert isinstance(game, Ambiguity)
    found = game.outcome(played.replay.states[-1])
    return None if found is None else float(found == outcome)


def _won(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "win")


def _missed(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "miss")


def _leaked(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "leak")


def _lost(played: Played, seat: Seat) -> float | None:
    return ended_as(played, "loss")


METRICS = (
    TOM_ACCURACY_PUBLISHED,
    Metric(
        name="clue_won",
        bounds=(0, 1),
        about="1 if the teammate found the word and the opponent did not (kang2026)",
        measure=_won,
        better="higher",
        headline=True,
    ),
    Metric(
        name="clue_missed",
        about="1 if neither found the word (kang2026)",
        measure=_missed,
        unit="share",
        better="",
    ),
    Metric(
        name="clue_leaked",
        about="1 if both found the word (kang2026)",
        measure=_leaked,
        unit="share",
        better="lower",
        headline=True,
    ),
    Metric(
        name="clue_lost",
        about="1 if only the opponent found the word (kang2026)",
        measure=_lost,
        unit="share",
        better="lower",
    ),
)
