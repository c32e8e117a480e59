"""Rows with declared columns on a page: headings with explanations, cells and sortable tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from sally.frames.schema import Column
from sally.output.figures.svg import estimate, number
from sally.output.html import Html, tag
from sally.output.tables.console import estimate_cell
from sally.stats.intervals import Estimate

Value = Estimate | Html | str | float | tuple[str, float] | None
"""A cell of `table`: a text with the number by which it is sorted is a tuple."""

ARROWS = {"higher": " ↑", "lower": " ↓", "": ""}


def sortable(caption: str, heads: Iterable[Html], lines: Iterable[Html]) -> Html:
    """Return a table that a reader can sort by any column, in a frame that scrolls."""
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", heads)),
        tag("tbody", lines),
        class_="sortable",
    )
    return scroll_frame(table, caption)


def scroll_frame(table: Html, about: str) -> Html:
    """Wrap a wide table in a frame that can be scrolled, by keyboard too."""
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=about)


def head(column: Column) -> Html:
    """Return the heading of a column of numbers; its meaning appears when it is pointed at."""
    title = f"{column.title}{ARROWS[column.better]}"
    return tag("th", tag("abbr", title, title=column.about), scope="col", class_="number")


def key_heads(names: Sequence[str]) -> list[Html]:
    """Return the headings of the columns that name a row; on a narrow screen, only the first."""
    return [
        tag("th", name, scope="col", class_="broad" if n else None) for n, name in enumerate(names)
    ]


def key_cells(first: str, others: Sequence[str]) -> list[Html]:
    """Return the cells that name a row."""
    subtitle = tag("small", ", ".join(others), class_="narrow") if others else None
    cells = [tag("td", tag("bdi", name), class_="broad") for name in others]
    return [tag("th", tag("bdi", first), subtitle, scope="row"), *cells]


def number_cell(value: Any, href: str | None = None, reason: str | None = None) -> Html:
    """Return the cell of a number or an estimate, which is sorted by its value.

    Args:
        value: The number; None and an estimate without a value are a dash.
        href: A link to the episodes behind the number.
        reason: Why there is no value.
    """
    measured = value if isinstance(value, Estimate) else None
    plain = value if measured is None else measured.value
    if plain is None:
        return tag("td", "–", class_="number quiet", title=reason)
    text = number(plain) if measured is None else estimate(plain, measured.interval)
    numeral, _, interval = text.partition(" ")
    link = tag("a", numeral, href=href) if href else numeral
    small = tag("small", interval) if interval else None
    return tag("td", link, small, class_="number", data_v=plain)


def number_cells(
    row: Any,
    columns: Sequence[Column],
    href: str | None = None,
    missing: Mapping[str, str] | None = None,
) -> list[Html]:
    """Return the cells of a row; a column is an attribute of the row."""
    reasons = missing or {}
    return [
        number_cell(getattr(row, column.field), href, reasons.get(column.field))
        for column in columns
    ]


def table(
    headings: Sequence[str], rows: Iterable[Sequence[Value]], names: Sequence[str] = ()
) -> Html:
    """Return a table of values that scrolls sideways on a narrow screen; the first text of a row is
    its heading.

    Args:
        headings: The headings of the columns.
        rows: The values; a fraction has two decimals, and None is a dash.
        names: The name by which a filter finds each row.
    """
    heads = tag("thead", tag("tr", [tag("th", name, scope="col") for name in headings]))
    lines = []
    for row, name in zip_longest(rows, names):
        place = next((n for n, value in enumerate(row) if isinstance(value, str | Html)), -1)
        cells = [
            tag("th", value, scope="row") if n == place else cell(value)
            for n, value in enumerate(row)
        ]
        lines.append(tag("tr", cells, data_n=name))
    inside = tag("table", heads, tag("tbody", lines), class_="sortable")
    return tag("div", inside, class_="scroll", tabindex=0)


def cell(value: Value) -> Html:
    """Return the cell of a value; that of an estimate is sorted by its value."""
    match value:
        case Estimate():
            text = estimate_cell(value.value, value.interval, 2)
            return tag("td", text, data_v=value.value)
        case (str(text), sorted_by):
            return tag("td", text, data_v=sorted_by)
        case float():
            return tag("td", f"{value:.2f}")
        case None:
            return tag("td", "-")
        case str() | int() | Html():
            return tag("td", value)
    raise TypeError(f"{value!r} is not a value of a table.")
