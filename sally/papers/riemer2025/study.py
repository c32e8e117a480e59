"""riemer2025 as studies: its tables, and what the names of actions change."""

from __future__ import annotations

from collections.abc import Iterable

from sally.core.registry.study import Study
from sally.papers.riemer2025.cells import TABLES, cell, conditions
from sally.papers.riemer2025.names import NAMES_STUDY


def study(tables: Iterable[str] = TABLES) -> Study:
    """The study of these tables."""
    return Study(
        name="riemer2025",
        about="literal and functional theory of mind in repeated games, Tables 1-4 and 8-10",
        cells=tuple(cell(table, row) for table in tables for row in conditions(table)),
        paper="riemer2025",
        retries=2,
    )


STUDY = study()
STUDIES = (STUDY, NAMES_STUDY)
