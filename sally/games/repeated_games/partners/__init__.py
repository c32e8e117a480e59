"""Partners for repeated matrix games, grouped by the information they use."""

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
from sally.parts.importers import RECORDED, recorded_partner

PARTNERS = {
    **constant.PARTNERS,
    **reciprocity.PARTNERS,
    **reasoners.PARTNERS,
    **rps.PARTNERS,
    **tables.PARTNERS,
    **tom_k.PARTNERS,
    **axelrod.PARTNERS,
    **bayes_adaptive.PARTNERS,
    RECORDED: recorded_partner(name="", participant=""),
}

__all__ = ["PARTNERS"]
