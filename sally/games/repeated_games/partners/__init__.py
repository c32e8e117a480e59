"""Partners for repeated matrix games, by the information that they use."""

from sally.core.errors import BadInput
from sally.core.log.imported import RECORDED
from sally.core.rules.game import Seat
from sally.core.rules.partner import Partner, Script
from sally.games.repeated_games.partners import (
    axelrod,
    constant,
    reasoners,
    reciprocity,
    rps,
    tables,
    tom_k,
)
from sally.games.repeated_games.rules import RepeatedGame


def _recorded(game: RepeatedGame, seat: Seat, name: str = "", participant: str = "") -> Script:
    """Refuse to play: the name stands in a lineup for a player of an imported game."""
    raise BadInput("it stands for somebody whose play was recorded elsewhere and cannot play again")


PARTNERS = {
    **constant.PARTNERS,
    **reciprocity.PARTNERS,
    **reasoners.PARTNERS,
    **rps.PARTNERS,
    **tables.PARTNERS,
    **tom_k.PARTNERS,
    **axelrod.PARTNERS,
    RECORDED: Partner(
        RECORDED,
        "somebody whose play was recorded elsewhere",
        "imported games",
        _recorded,
        params={"name": "", "participant": ""},
        helps=True,
    ),
}

__all__ = ["PARTNERS"]
