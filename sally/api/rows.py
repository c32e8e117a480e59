"""Rows: the table type that the library returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

SHOWN = 20  # rows of a table in a notebook
WIDE = 12  # columns of a table in a notebook
Row = dict[str, Any]


class Rows(list[Row]):
    """Rows of a table: a list of mappings that converts to a pandas or polars frame.

    >>> import sally
    >>> frame = sally.list_strategies().polars()
    >>> frame.columns
    ['name', 'about']
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns, in order of first appearance."""
        return tuple(dict.fromkeys(name for row in self for name in row))

    def pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame."""
        from sally.analysis.columns.rows import to_pandas  # loads numpy

        return to_pandas(self)

    def polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        from sally.analysis.columns.rows import to_polars  # loads numpy

        return to_polars(self)

    def __repr__(self) -> str:
        names = self.columns
        more = ", ..." if len(names) > WIDE else ""
        return f"<{len(self)} rows: {', '.join(names[:WIDE])}{more}>"

    def _repr_html_(self) -> str:
        return table_html(self, self.columns)


def table_html(found: Iterable[Mapping[str, Any]], names: Iterable[str]) -> str:
    """Return the first rows as an HTML table for notebooks."""
    every, shown = list(found), list(names)[:WIDE]
    head = "".join(f"<th>{escape(name)}</th>" for name in shown)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(row.get(name)))}</td>" for name in shown) + "</tr>"
        for row in every[:SHOWN]
    )
    more = f"<p>{len(every) - SHOWN} more rows</p>" if len(every) > SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "" if value is None else str(value)
