"""Whoever played elsewhere: a name in a lineup, not somebody who can be asked to play."""

from __future__ import annotations

from sally.core.errors import BadInput
from sally.core.log.imported import RECORDED
from sally.core.rules.game import Seat
from sally.core.rules.partner import Partner, Script
from sally.games.repeated_games.rules import RepeatedGame


def _recorded(game: RepeatedGame, seat: Seat, name: str = "", participant: str = "") -> Script:
    raise BadInput("it stands for somebody whose play was recorded elsewhere and cannot play again")


PARTNERS = {
    RECORDED: Partner(
        RECORDED,
        "somebody whose play was recorded elsewhere",
        "imported games",
        _recorded,
        params={"name": "", "participant": ""},
        helps=True,
    )
}
