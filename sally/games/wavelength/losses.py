"""Where the points of Wavelength were lost: not foreseen, not acted on, not readable."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, Terms
from sally.games.association.measures import mean
from sally.games.wavelength.metrics import rounds, split


def LOSSES(played: Played, seat: Seat) -> Terms:
    """The mean losses of the rounds that were predicted; rounds are independent, so no horizon."""
    parts = split(played, seat)
    void = [each.best for each in rounds(played, seat) if each.dial is None and each.best]
    due = len(rounds(played, seat))
    return Terms(
        inference=mean([lost for lost, _ in parts]),
        translation=mean([lost for _, lost in parts]),
        format=sum(void) / due if due else None,
    )
