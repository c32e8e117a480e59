"""Partners for repeated matrix games, grouped by the information they use."""

from sally.core.errors import BadInput
from sally.core.log.imported import RECORDED
from sally.core.rules.game import Seat
from sally.core.rules.partner import Partner, Script
from sally.games.repeated_games.partners import (
    axelrod,
    bayes_adaptive,
    constant,
    reasoners,
    reciprocity,
    rps,
    tables,
    tom_k,
)
from sally.games.repeated_games.rules import RepeatedGame


def _recorded(game: RepeatedGame, seat: Seat, name: str = "", participant: str = "") -> Script:
    """Always raise BadInput, because the name stands for a player in imported records, which
    cannot play."""
    raise BadInput("this player exists only in imported records and cannot make moves")


PARTNERS = {
    **constant.PARTNERS,
    **reciprocity.PARTNERS,
    **reasoners.PARTNERS,
    **rps.PARTNERS,
    **tables.PARTNERS,
    **tom_k.PARTNERS,
    **axelrod.PARTNERS,
    **bayes_adaptive.PARTNERS,
    RECORDED: Partner(
        RECORDED,
        "a player whose moves were recorded elsewhere",
        "imported games",
        _recorded,
        params={"name": "", "participant": ""},
        helps=True,
    ),
}

__all__ = ["PARTNERS"]
