"""Section of the report page on what local models represent."""

from __future__ import annotations

from collections.abc import Sequence

from sally.frames import Row
from sally.output.html import Html, join, tag
from sally.output.tables.representation import (
    COLUMNS,
    LEGEND,
    arms_row,
    by_question,
    conditions,
    heading,
    probe_row,
)
from sally.represent.results import RepresentationResult


def represented_section(results: Sequence[RepresentationResult]) -> Html:
    """Return the tables of `sally represent` that a store has."""
    parts = []
    for group in by_question(results):
        rows = [probe_row(result) for result in group]
        columns = [name for name in COLUMNS if any(row[name] != "-" for row in rows)]
        parts += [
            tag("h3", heading(group[0])),
            scrolling_table(["game", "player", "n", *columns], rows),
        ]
        parts += [tag("p", tag("small", conditions(result))) for result in group]
        for result in group:
            if result.arms:
                lines = [arms_row(arm) for arm in result.arms]
                parts += [tag("h4", f"{result.game}, {result.player}: three arms")]
                parts += [scrolling_table(list(lines[0]), lines)]
    return join(*parts, tag("p", tag("small", LEGEND)))


def scrolling_table(columns: Sequence[str], rows: Sequence[Row]) -> Html:
    """Return a table that scrolls sideways on a narrow screen."""
    heads = tag("thead", tag("tr", [tag("th", name, scope="col") for name in columns]))
    lines = [tag("tr", [tag("td", str(row[name])) for name in columns]) for row in rows]
    return tag("div", tag("table", heads, tag("tbody", lines)), class_="scroll", tabindex=0)
