"""A self-contained HTML page for a comparison of Inspect logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sally.output.figures.svg import Bar, estimate, interval_plot
from sally.output.html import Html, tag
from sally.output.page.columns import scroll_frame
from sally.output.page.document import write_document
from sally.output.tables.console import p_cell

TITLE = "Comparison of Inspect logs"
COLUMNS = (
    "first", "second", "scorer", "first mean", "second mean", "difference", "the first is", "p",
    "pairs", "unpaired",
)  # fmt: skip


def write_comparison(rows: Sequence[Mapping[str, Any]], notes: Sequence[str], out: Path) -> None:
    """Write the page: one plot for each scorer, the table, and notes on how each number is
    computed.

    Raises:
        BadInput: The file cannot be written.
    """
    scorers = dict.fromkeys(row["scorer"] for row in rows)
    parts = (
        *(_plot(scorer, [row for row in rows if row["scorer"] == scorer]) for scorer in scorers),
        scroll_frame(_table(rows), TITLE),
        *(tag("p", note) for note in notes),
    )
    write_document(out, TITLE, (tag("h1", TITLE),), parts)


def _plot(scorer: str, rows: Sequence[Mapping[str, Any]]) -> Html:
    bars = [
        Bar(
            row["first"],
            f"minus {row['second']}",
            row["difference"]["value"],
            row["difference"]["interval"],
            row["pairs"],
            None,
        )
        for row in rows
    ]
    caption = tag("figcaption", f"{scorer}: difference over pairs of samples, 95% intervals")
    return tag("figure", caption, interval_plot(scorer, "first minus second", bars))


def _table(rows: Sequence[Mapping[str, Any]]) -> Html:
    return tag(
        "table",
        tag("thead", tag("tr", [tag("th", name, scope="col") for name in COLUMNS])),
        tag("tbody", [tag("tr", [tag("td", cell) for cell in _cells(row)]) for row in rows]),
        class_="sortable",
    )


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["first"],
        row["second"],
        row["scorer"],
        estimate(row["first_mean"], None),
        estimate(row["second_mean"], None),
        estimate(row["difference"]["value"], row["difference"]["interval"]),
        row["verdict"],
        p_cell(row["p_holm"]) or "",
        str(row["pairs"]),
        estimate(row["unpaired"]["value"], row["unpaired"]["interval"]),
    )
