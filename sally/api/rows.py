"""Rows: the table type that the library returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from sally.api.result_list import ResultList, rows_figure
from sally.core.errors import needs_extra, unknown
from sally.core.log.events import Episode
from sally.frames import Row

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
        return to_pandas(self)

    def polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
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


def to_polars(rows: Iterable[Mapping[str, Any] | Episode]) -> pl.DataFrame:
    """Return rows, or one row per seat of each episode, as a polars frame.

    Args:
        rows: Rows of any table, or episodes.

    >>> import sally
    >>> played = [sally.play("ipd", {"agent": "random", "partner": "tit_for_tat"}, rounds=2)]
    >>> sally.to_polars(played)["game"].to_list()
    ['ipd', 'ipd']
    """
    import polars  # takes a quarter of a second

    return polars.DataFrame(_as_rows(rows), infer_schema_length=None)


def to_pandas(rows: Iterable[Mapping[str, Any] | Episode]) -> pd.DataFrame:
    """Return rows, or one row per seat of each episode, as a pandas frame.

    Args:
        rows: Rows of any table, or episodes.

    Raises:
        BadInput: If pandas is not installed.

    >>> import sally
    >>> list(sally.to_pandas(sally.list_strategies()))
    ['name', 'about']
    """
    with needs_extra("frames"):
        import pandas
    return pandas.DataFrame(_as_rows(rows))


def list_names(names: Any) -> tuple[Any, ...]:
    """Return one name or several as a tuple; an empty name is none."""
    if isinstance(names, str):
        return (names,) if names else ()
    return tuple(names) if isinstance(names, Iterable) else (names,)


def _as_rows(rows: Iterable[Mapping[str, Any] | Episode]) -> list[Mapping[str, Any]]:
    """Return rows with structs as dictionaries, and convert episodes to rows."""
    items = list(rows)
    if not any(isinstance(item, Episode) for item in items):
        return [_with_even_lists(msgspec.to_builtins(item, enc_hook=_number)) for item in items]
    from sally.frames.frame import as_frame  # loads polars

    return [
        row
        for item in items
        for row in (
            as_frame(item).export_rows().to_dicts() if isinstance(item, Episode) else [item]
        )
    ]


def _with_even_lists(value: Any) -> Any:
    """Return a value in which lists of numbers, such as intervals, have numbers of one type."""
    if isinstance(value, Mapping):
        return {name: _with_even_lists(part) for name, part in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if any(isinstance(part, float) for part in value):
        return [float(part) if type(part) is int else part for part in value]
    return [_with_even_lists(part) for part in value]


def _number(value: Any) -> Any:
    """Return a number of numpy as Python's, and any other object as text."""
    return value.item() if hasattr(value, "item") else str(value)


def is_chosen(value: Any, expected: Any) -> bool:
    """Return whether a value is the wanted one, or one of several."""
    return (
        value in expected if isinstance(expected, list | tuple | set) else bool(value == expected)
    )
