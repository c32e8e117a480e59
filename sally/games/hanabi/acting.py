"""Whether a card was played that its holder itself thought playable."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.hanabi.losses import EVEN
from sally.games.hanabi.turns import decided
from sally.metrics.consistency import Acted


def ACTING(played: Played, seat: Seat) -> list[Acted]:
    """The turns in which a card was played after saying which ones can be.

    Hints and discards have no best reply to such a prediction, so they count neither way.
    """
    return [
        Acted(each.turn, each.believed.get(each.plays, EVEN) >= EVEN, None)
        for each in decided(played, seat)
        if each.believed is not None and each.plays is not None
    ]
