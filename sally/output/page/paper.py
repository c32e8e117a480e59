"""A paper's tables in the paper's layout: published values, each with ours below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from sally.output.html import Html, joined, tag
from sally.output.page.columns import scrolled
from sally.output.tables.layout import LEGEND, OURS, Grid, Line


def paper_section(grids: Mapping[str, Sequence[Grid]]) -> Html:
    """Return the tables by paper; cells without episodes are marked."""
    parts = []
    for paper, tables in grids.items():
        parts += [_table(paper, grid) for grid in tables]
    said = f"Published values, and ours measured on these episodes; {LEGEND}."
    return joined(tag("p", said), parts)


def _table(paper: str, grid: Grid) -> Html:
    name = f"{paper}, Table {grid.name}" if grid.name.isdigit() else f"{paper}, {grid.name}"
    caption = f"{name}: {grid.caption}"
    heads = [
        *(tag("th", stub, scope="col") for stub in (*grid.stubs, "figures")),
        *(tag("th", name, scope="col", class_="number") for name in grid.headings),
    ]
    over = _groups(grid) if any(grid.groups) else None
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", over, tag("tr", heads)),
        tag("tbody", map(_line, (None, *grid.lines), grid.lines)),
    )
    return scrolled(table, caption)


def _groups(grid: Grid) -> Html:
    """Return the row of group headings."""
    blank = tag("td", colspan=len(grid.stubs) + 1)
    spans = [(name, len(list(same))) for name, same in groupby(grid.groups)]
    return tag("tr", blank, (tag("th", name, colspan=n, scope="colgroup") for name, n in spans))


def _line(before: Line | None, line: Line) -> Html:
    """Return a row; labels equal to those of the row above are left blank."""
    ours = line.data == OURS
    same = before is not None and before.labels == line.labels
    return tag(
        "tr",
        (tag("td", "" if same else label) for label in line.labels),
        tag("td", line.data, class_=None if ours else "quiet"),
        (tag("td", cell, class_=_kind(cell, ours)) for cell in line.cells),
    )


def _kind(cell: str, ours: bool) -> str:
    return "number" if ours and cell not in ("not run", "missing") else "number quiet"
