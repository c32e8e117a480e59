"""A paper's tables in the paper's layout: published values, each with ours below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from sally.output.html import Html, join, tag
from sally.output.page.columns import scroll_frame
from sally.output.tables.layout import LEGEND, OURS, Grid, Line


def paper_section(grids: Mapping[str, Sequence[Grid]]) -> Html:
    """Return the tables by paper; cells without episodes are marked."""
    parts = []
    for paper, tables in grids.items():
        parts += [_table(paper, grid) for grid in tables]
    introduction = f"Published values, and ours measured on these episodes; {LEGEND}."
    return join(tag("p", introduction), parts)


def _table(paper: str, grid: Grid) -> Html:
    name = f"{paper}, Table {grid.name}" if grid.name.isdigit() else f"{paper}, {grid.name}"
    caption = f"{name}: {grid.caption}"
    heads = [
        *(tag("th", stub, scope="col") for stub in (*grid.stubs, "figures")),
        *(tag("th", name, scope="col", class_="number") for name in grid.headings),
    ]
    group_heads = _groups(grid) if any(grid.groups) else None
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", group_heads, tag("tr", heads)),
        tag("tbody", map(_line, (None, *grid.lines), grid.lines)),
    )
    return scroll_frame(table, caption)


def _groups(grid: Grid) -> Html:
    """Return the row of group headings."""
    blank = tag("td", colspan=len(grid.stubs) + 1)
    spans = [(name, len(list(members))) for name, members in groupby(grid.groups)]
    heads = (
        tag("th", name, colspan=n, scope="colgroup") if name else tag("td", colspan=n)
        for name, n in spans
    )
    return tag("tr", blank, heads)


def _line(previous: Line | None, line: Line) -> Html:
    """Return a row; labels equal to those of the row above are left blank."""
    ours = line.data == OURS
    is_repeated = previous is not None and previous.labels == line.labels
    return tag(
        "tr",
        (tag("td", "" if is_repeated else label) for label in line.labels),
        tag("td", line.data, class_=None if ours else "quiet"),
        (tag("td", cell, class_=_kind(cell, ours)) for cell in line.cells),
    )


def _kind(cell: str, ours: bool) -> str:
    return "number" if ours and cell not in ("not run", "missing") else "number quiet"
