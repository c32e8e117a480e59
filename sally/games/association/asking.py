"""Questions that the word games share: how close two words are for the other player."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sally.core.match.replay import Replay
from sally.core.rules.game import Seat
from sally.core.rules.probe import At, Probe, Question

Past = Replay[Any, Any, Any]
NO_SPLIT = (
    "one was not asked what other words would bring, so no best reply to the prediction is known"
)


def own_answer(probe: str, of: Seat) -> Callable[[Past, At], int | None]:
    """What a seat answers itself is the truth for the others; its own answer has no other judge."""

    def truth(replay: Past, at: At) -> int | None:
        if at.seat == of:
            return None
        said = replay.report(at.turn, of, probe, at.about)
        return said.value if said is not None and isinstance(said.value, int) else None

    return truth


def closeness_probe(
    giver: Seat, guesser: Seat, ask: Callable[[Any, Any, Seat], tuple[Question, ...]]
) -> Probe:
    """How close two words are for the guesser, from 0 to 100."""
    return Probe(
        "closeness",
        "how close two words are for the guesser; judged by what it says itself",
        "start",
        "choice",
        (giver, guesser),
        ask,
        own_answer("closeness", guesser),
    )
