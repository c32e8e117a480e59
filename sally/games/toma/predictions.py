"""What a seat predicted and what it then did: the ground of the knowing-doing measures.

A prediction is a report to a probe of the same turn; where the seat was not asked, what it
foresaw inside its own decision. Truth plays no part in consistency.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.metrics.answers import counted

ONE_SHOT = ("toma_po", "toma_mg")
PLAYER = Seat("player")


def beliefs(played: Played, seat: Seat) -> Iterator[tuple[int, dict[str, Any]]]:
    """By turn in which the seat moved: what it predicted, about whom; all of it readable."""
    replay = played.replay
    for turn in range(len(replay)):
        if replay.move(turn, seat) is None:
            continue
        said = {
            report.about: report.value
            for report in replay.reports.values()
            if (report.turn, report.seat) == (turn, seat)
        }
        if None not in said.values():
            yield turn, said


def knew(played: Played, seat: Seat) -> bool | None:
    """Whether every prediction was right; None where none was asked for or one is unreadable."""
    answers = [answer for answer in counted(played, seat) if answer.truth is not None]
    if not answers or any(answer.report.value is None for answer in answers):
        return None
    return all(answer.report.value == answer.truth for answer in answers)


def did(played: Played, seat: Seat) -> bool | None:
    """Whether the one choice was the right one; None where it was forfeited or censored."""
    payoffs = played.episode.payoffs
    if payoffs is None or played.replay.forfeited or not len(played.replay):
        return None
    return payoffs[seat] == 1


def cell(played: Played, seat: Seat, wanted: tuple[bool, bool]) -> float | None:
    """1 if the episode falls into this cell of the 2x2 of knowing and doing, else 0."""
    found = (knew(played, seat), did(played, seat))
    return None if None in found else float(found == wanted)
