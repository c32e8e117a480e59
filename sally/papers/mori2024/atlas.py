"""Dots of the atlas figure: people who stated what thirty others do, and constant rules on the same
decisions."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.papers.belief_records import (
    belief_dot,
    columns_of,
    constant_dots,
    knowing_of_most,
    records_of,
)
from sally.papers.mori2024.figures import parts_of, shares
from sally.papers.mori2024.importer import ADDITIONAL, MAIN
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasSource
from sally.parts.beliefs import PEOPLE
from sally.stats import belief_measures as measures

SETTINGS = {
    "mandatory": "groups of five, everybody takes part",
    "voluntary": "groups of five, loners stay out",
    "additional": "groups of five, loners may fill groups",
}


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of people, with their knowing of the others' choices, and of constant
    choices; mandatory and voluntary participation have their own columns."""
    parts = parts_of(records_of(games))
    dots: list[AtlasDot] = []
    for name, setting in SETTINGS.items():
        records = parts[name]
        if not records:
            continue
        column = AtlasColumn(
            "threshold public good",
            setting,
            "doing by the others' choices",
            "random choice",
            "best choice given the others",
        )
        table = columns_of(records)
        knowing = knowing_of_most(shares(records, "value"), shares(records, "truth"))
        dots += belief_dot(column, PEOPLE, measures.doing(table), records, MAIN, knowing)
        dots += constant_dots(column, table, records, MAIN)
    return dots


ATLAS = AtlasSource((MAIN, ADDITIONAL), dots_of)
