"""Partners for repeated matrix games, by what they listen to."""

from sally.games.repeated_games.partners import (
    axelrod,
    constant,
    reasoners,
    reciprocity,
    recorded,
    rps_adaptive,
    rps_stable,
    tables,
    tom_k,
)

PARTNERS = {
    **constant.PARTNERS,
    **reciprocity.PARTNERS,
    **reasoners.PARTNERS,
    **rps_stable.PARTNERS,
    **rps_adaptive.PARTNERS,
    **tables.PARTNERS,
    **tom_k.PARTNERS,
    **axelrod.PARTNERS,
    **recorded.PARTNERS,
}

__all__ = ["PARTNERS"]
