"""Rows with declared columns on the console: cells, tables that fit the width, and legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sally.frames import Row
from sally.frames.schema import Column
from sally.output.tables.console import cell, estimate_cell, fitting, print_table
from sally.stats.intervals import Estimate


def text_of(value: Any, column: Column) -> str:
    """Return a value as a cell: estimates with their interval, numbers with the column's digits."""
    if isinstance(value, Estimate):
        return estimate_cell(value.value, value.interval, column.digits)
    if isinstance(value, float):
        return estimate_cell(value, None, column.digits)
    return cell(value)


def text_rows(rows: Iterable[Any], columns: Sequence[Column]) -> list[Row]:
    """Return the cells of rows by heading; a column is an attribute of a row."""
    return [
        {column.title: text_of(getattr(row, column.field), column) for column in columns}
        for row in rows
    ]


def print_columns(
    rows: Sequence[Any], keys: Sequence[Column], columns: Sequence[Column], title: str = ""
) -> None:
    """Print rows, in several tables if the columns do not fit side by side."""
    lines = text_rows(rows, (*keys, *columns))
    first = [column.title for column in keys]
    for names in fitting(lines, first, [column.title for column in columns]):
        print_table(lines, (*first, *names), title=title)


def legend(columns: Iterable[Column]) -> str:
    """Return what the columns mean, in one paragraph."""
    return "; ".join(f"{column.title}: {column.about}" for column in columns) + "."
