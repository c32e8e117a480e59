"""Rows: the table type that the library returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sally.api.result_list import ResultList, Row, rows_figure
from sally.core.errors import unknown

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure


class Rows(ResultList[Row]):
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

    def table(self) -> Rows:
        """Return the rows that are printed: all of them."""
        return self

    def plot(self, column: str = "") -> Figure:
        """Draw a column of numbers with their 95% intervals, one panel per metric.

        Args:
            column: Name of the column; by default those that have intervals.

        Returns:
            A Matplotlib figure; `figure.savefig("scores.png")` writes it.

        Raises:
            BadInput: If there is no number to draw, or Matplotlib is not installed.
        """
        return rows_figure(self, column, self.heading)

    def _has(self, item: Row, columns: Mapping[str, Any]) -> bool:
        for name in columns:
            if name not in item and name not in self.columns:
                raise unknown("column of these rows", name, self.columns)
        return all(is_chosen(item.get(name), value) for name, value in columns.items())


def is_chosen(value: Any, expected: Any) -> bool:
    """Return whether a value is the wanted one, or one of several."""
    return (
        value in expected if isinstance(expected, list | tuple | set) else bool(value == expected)
    )
