"""Where the words of Taboo were lost: not foreseen, not acted on, not readable."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, Terms
from sally.games.association.measures import mean
from sally.games.taboo.metrics import split


def LOSSES(played: Played, seat: Seat) -> Terms:
    """By hint that could have found the word, as shares of 1."""
    parts = split(played, seat)
    due = [seat in lost for lost in played.replay.forfeited.values()]
    asked = sum(seat in moves for moves in played.replay.moves) + sum(due)
    return Terms(
        inference=mean([lost for lost, _ in parts]),
        translation=mean([lost for _, lost in parts]),
        format=sum(due) / asked if asked else None,
    )
