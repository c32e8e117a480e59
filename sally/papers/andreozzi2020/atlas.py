"""Dots of the atlas figure: first moves of people who stated what they expect, and constant rules
on the same decisions."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.papers.andreozzi2020.figures import dilemma_of
from sally.papers.belief_records import belief_dot, constant_dots, knowing_of_most, records_of
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasSource
from sally.parts.beliefs import PEOPLE
from sally.stats import belief_measures as measures

SOURCE = "andreozzi2020"
COLUMN = AtlasColumn(
    "sequential transfers",
    "ten periods with random partners",
    "doing of first moves in hindsight",
    "random first move",
    "best first move given the partner's replies",
)


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of people, with their knowing of the partner's first move, and of constant
    first moves."""
    records = records_of(games)
    data = dilemma_of(records)
    knowing = knowing_of_most(data.odds[:, 0], data.truth[:, 0])
    people = belief_dot(COLUMN, PEOPLE, measures.doing(data.table), records, SOURCE, knowing)
    return people + constant_dots(COLUMN, data.table, records, SOURCE)


ATLAS = AtlasSource(SOURCE, dots_of)
