"""Where the cards of Codenames were lost: not foreseen, not acted on, not readable."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, Terms
from sally.games.association.measures import mean
from sally.games.codenames.metrics import split


def LOSSES(played: Played, seat: Seat) -> Terms:
    """The mean losses of the clues that were predicted, in cards."""
    parts = split(played, seat)
    return Terms(
        inference=mean([lost for lost, _ in parts]),
        translation=mean([lost for _, lost in parts]),
    )
