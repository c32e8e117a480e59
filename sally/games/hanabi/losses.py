"""Where misplays of Hanabi come from: a wrong belief, or a move against one's own belief."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, Terms
from sally.games.hanabi.turns import decided

EVEN = 0.5


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Misplays and forfeits a turn, over the turns for which the seat said what it can play.

    A card lost that the seat called playable is lost by inference, one that it called unplayable
    by translation. Only cards on the piles count: a life has no price of its own.
    """
    turns = [each for each in decided(played, seat) if each.believed is not None]
    if not turns:
        return Terms()
    wrong = [
        each.believed.get(each.plays, EVEN)
        for each in turns
        if each.believed is not None and each.plays is not None and not each.scores
    ]
    believed = sum(p >= EVEN for p in wrong)
    return Terms(
        inference=believed / len(turns),
        translation=(len(wrong) - believed) / len(turns),
        format=sum(each.action is None for each in turns) / len(turns),
    )
