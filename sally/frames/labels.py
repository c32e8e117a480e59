"""Factors of cells and tags of studies, also where a stored study names them in its texts only.

Suites that were stored before cells and studies had these fields have them in the name of a cell
(`rps: reworded, test`) and in the description of the study. No other module reads those texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sally.core.errors import BadInput
from sally.core.registry.study import Study

Factors = Mapping[str, str]
NAME_OF_CELL = re.compile(r"[^:]+: (?P<arm>[^,]+)(, (?P<part>.+))?")
ABOUT_SUITE = re.compile(
    r"the suite (?P<suite>Sally-\d+), size (?P<size>\w):.*?(; played by the bot (?P<bot>.+))?"
)


def declared_factors(studies: Iterable[Study]) -> dict[str, Factors]:
    """Return the factors of each cell that declares some, by the name of the cell.

    Raises:
        BadInput: If two studies declare different factors for cells of the same name.
    """
    factors: dict[str, Factors] = {}
    for study in studies:
        for cell in study.cells:
            if cell.factors and factors.setdefault(cell.name, cell.factors) != cell.factors:
                raise BadInput(
                    f"Two studies declare different factors for the cell {cell.name!r}: "
                    f"{factors[cell.name]} and {cell.factors}; analyse them one at a time."
                )
    return factors


def factors_in_name(cell: str) -> Factors:
    """Return arm and part from the name of a suite's cell; empty for other names."""
    return _named_groups(NAME_OF_CELL, cell)


def tags_of(study: Study) -> Mapping[str, str]:
    """Return the tags of a study; of a stored suite without tags: suite, size and bot."""
    if study.tags:
        return study.tags
    tags = _named_groups(ABOUT_SUITE, study.about)
    if "suite" in tags:
        tags["suite"] = tags["suite"].lower().replace("-", "_")
    return tags


def _named_groups(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    match = pattern.fullmatch(text)
    return {name: value for name, value in match.groupdict().items() if value} if match else {}
