"""Section of the report page on how moves follow what an informant says."""

from __future__ import annotations

from sally.analysis.pairs.told import ToldResult
from sally.output.html import Html, join, tag
from sally.output.page.representation import scrolling_table
from sally.output.tables.told import LEGEND, told_tables


def told_section(result: ToldResult) -> Html:
    """Return the slopes of moves on stated forecasts, and their differences between arms."""
    parts = []
    for title, keys, rows in told_tables(result):
        columns = [*keys, *(name for name in rows[0] if name not in keys)]
        parts += [tag("h3", title.capitalize()), scrolling_table(columns, rows)]
    return join(*parts, tag("p", tag("small", LEGEND)))
