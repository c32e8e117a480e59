"""The base of result types: lists that keep their type when cut, and print as tables."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from html import escape
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, TypeVar, overload

from sally.core.errors import BadInput, join_names, unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

T = TypeVar("T")
SHOWN = 20  # rows of a table
WIDE = 12  # columns of a table in a notebook
LONGEST = 40  # letters of a text, which is wrapped if it is longer
GAP = 3  # spaces between columns
MOST_DOTS = 200  # of a figure
INTERVAL = "interval"
NAMES = frozenset({"name", "game", "player", "metric"})  # columns that say what a row is about
VALUES = frozenset({"value", "payoff"})
HIDDEN = 8  # columns that are named below a table


class ResultList(list[T], ABC):
    """A list of results. A slice and a selection have the type of the list."""

    parallel: ClassVar[tuple[str, ...]] = ()
    """Attributes that are lists with one item for each item of this list."""

    @property
    def heading(self) -> str:
        """What the results are about, for the line above the table and for figures."""
        return ""

    @property
    def title(self) -> str:
        """The line above the table."""
        return self.heading or f"{len(self):,} row{'' if len(self) == 1 else 's'}"

    @abstractmethod
    def table(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows that are printed."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: SupportsIndex | slice) -> T | Self:
        if isinstance(place, slice):
            return self.select(range(len(self))[place])
        return super().__getitem__(place)

    def select(self, places: Iterable[int]) -> Self:
        """Return the items at these places, as a result of the same type."""
        indices = list(places)
        result = copy(self)
        list.__setitem__(result, slice(None), [list.__getitem__(self, n) for n in indices])
        for name in self.parallel:
            items = getattr(self, name)
            setattr(result, name, [items[n] for n in indices])
        return result

    def filter(self, keep: Callable[[T], Any] | None = None, /, **columns: Any) -> Self:
        """Return the items for which a function is true, and whose columns have these values.

        Args:
            keep: A function of an item; None keeps every item.
            **columns: Values of columns; a list or tuple names several values.

        Raises:
            BadInput: If a column is unknown.
        """
        return self.select(
            number
            for number, item in enumerate(self)
            if (keep is None or keep(item)) and self._has(item, columns)
        )

    @abstractmethod
    def _has(self, item: T, columns: Mapping[str, Any]) -> bool:
        """Return whether the columns of an item have these values."""

    @abstractmethod
    def plot(self) -> Figure:
        """Draw the numbers of the table."""

    # --- tables ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from rich.console import Console  # slow to import, and only a printed result needs it

        width = int(os.environ.get("COLUMNS") or get_terminal_size((100, 24)).columns)
        console = Console(
            file=StringIO(), width=max(width, 40), color_system=None, force_jupyter=False
        )
        with console.capture() as text:
            console.print(self._rich_table(max(width, 40)))
        lines = [line.rstrip() for line in text.get().splitlines()]
        return "\n".join([self.title, *filter(None, lines), *self._notes(width)])

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(self.title, self._rich_table(get_terminal_size((100, 24)).columns))

    def _repr_html_(self) -> str:
        rows = self.table()
        return f"<p>{escape(self.title)}</p>" + table_html(rows, columns_of(rows))

    def _rich_table(self, width: int) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        cells = text_cells(self.table()[:SHOWN])
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for name in _fitting(cells, width):
            is_number = all(_is_number(row[name]) for row in cells)
            table.add_column(Text(name), justify="right" if is_number else "left")
        names = [str(column.header) for column in table.columns]
        for row in cells:
            table.add_row(*(Text(row[name]) for name in names))
        return table

    def _notes(self, width: int) -> list[str]:
        """Return lines about the rows and columns that a table of this width leaves out."""
        rows = self.table()
        cells = text_cells(rows[:SHOWN])
        more_rows = len(rows) - SHOWN
        fitting = _fitting(cells, width)
        hidden = [name for name in columns_of(cells) if name not in fitting]
        return [
            *([f"... and {more_rows:,} more rows"] if more_rows > 0 else []),
            *([f"more columns: {_join_first(hidden)}"] if hidden else []),
        ]


def _join_first(names: Sequence[str]) -> str:
    """Return the first names, and the number of those left out."""
    hidden = len(names) - HIDDEN
    return ", ".join([*names[:HIDDEN], *([f"and {hidden} more"] if hidden > 0 else [])])


def columns_of(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of all columns, in order of first appearance."""
    return tuple(dict.fromkeys(name for row in rows for name in row))


def text_cells(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the cells of a table as texts; an interval stands beside its value, and columns
    without a value are left out."""
    names = [
        name
        for name in columns_of(rows)
        if value_of(name) is None and any(row.get(name) not in (None, "") for row in rows)
    ]
    return [{name: _cell(row, name) for name in names} for row in rows]


def value_of(name: str) -> str | None:
    """Return the column to which a column of intervals belongs; None for other columns."""
    if name == INTERVAL:
        return "value"
    return name.removesuffix(f"_{INTERVAL}") if name.endswith(f"_{INTERVAL}") else None


def interval_of(row: Mapping[str, Any], name: str) -> Sequence[float] | None:
    """Return the interval of a value, or None."""
    interval = row.get(INTERVAL if name == "value" else f"{name}_{INTERVAL}")
    return interval if isinstance(interval, list | tuple) and len(interval) == 2 else None


def _cell(row: Mapping[str, Any], name: str) -> str:
    value, interval = row.get(name), interval_of(row, name)
    if value is None or interval is None:
        return _text(value)
    return f"{_text(value)} [{_text(interval[0])}, {_text(interval[1])}]"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "" if value is None else str(value)


def _is_number(text: str) -> bool:
    try:
        float(text or 0)
    except ValueError:
        return False
    return True


def _fitting(cells: Sequence[Mapping[str, str]], width: int) -> list[str]:
    """Return the columns that fit into a width, the telling ones first; at least one.

    Names come first, then estimates, other texts and other numbers; columns with the same text in
    every row come last.
    """
    names = columns_of(cells)
    fitting: set[str] = set()
    room = width + GAP
    for name in sorted(names, key=lambda name: _rank(cells, name)):
        widest = max(len(row[name]) for row in cells)
        room -= max(len(name), min(widest, LONGEST)) + GAP
        if fitting and room < 0:
            break
        fitting.add(name)
    return [name for name in names if name in fitting]


def _rank(cells: Sequence[Mapping[str, str]], name: str) -> int:
    texts = {row[name] for row in cells}
    if name in VALUES or any(text.endswith("]") and " [" in text for text in texts):
        return 1
    if len(texts) == 1 and len(cells) > 1:
        return 4
    if name in NAMES:
        return 0
    return 3 if all(map(_is_number, texts)) else 2


def table_html(rows: Iterable[Mapping[str, Any]], names: Iterable[str]) -> str:
    """Return the first rows as an HTML table for notebooks."""
    rows = list(rows)
    cells = text_cells([{name: row.get(name) for name in names} for row in rows[:SHOWN]])
    headings = columns_of(cells)[:WIDE]
    head = "".join(f"<th>{escape(name)}</th>" for name in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(row[name])}</td>" for name in headings) + "</tr>"
        for row in cells
    )
    note = f"<p>{len(rows) - SHOWN:,} more rows</p>" if len(rows) > SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


# --- figures --------------------------------------------------------------------------------------


def rows_figure(
    rows: Sequence[Mapping[str, Any]],
    column: str = "",
    title: str = "",
    panels: Sequence[str] = ("metric",),
) -> Figure:
    """Draw a column of numbers, with intervals where there are some.

    Args:
        rows: The rows.
        column: Name of the column; by default those that have intervals.
        title: Title of the figure.
        panels: Columns whose values divide the figure into panels.

    Raises:
        BadInput: If there is no such column or no number, or there are too many rows.
    """
    from sally.output.figures.estimates import EstimateDot, estimates_figure
    from sally.stats.intervals import Estimate

    if not rows:
        raise BadInput("There are no rows to draw.")
    names = columns_of(rows)
    if column and column not in names:
        raise unknown("column of these rows", column, names)
    value_columns = (
        [column] if column else [n for n in names if any(interval_of(r, n) for r in rows)]
    )
    if not value_columns and "value" in names:
        value_columns = ["value"]
    if not value_columns:
        numbers = [n for n in names if any(isinstance(r.get(n), float) for r in rows)]
        example = f", such as {join_names(numbers[:3], 'or')}" if numbers else ""
        raise BadInput(f"These rows have no intervals; name the column to draw{example}.")
    if len(rows) * len(value_columns) > MOST_DOTS:
        raise BadInput(
            f"A figure of {len(rows) * len(value_columns):,} dots cannot be read; select rows with "
            "`filter`, or name one column."
        )
    labels = _labels(rows, (*value_columns, *panels))
    dots = []
    for name in value_columns:
        for row, label in zip(rows, labels, strict=True):
            low, high = interval_of(row, name) or (None, None)
            if isinstance(value := row.get(name), int | float):
                parts = [str(row[part]) for part in panels if row.get(part)]
                parts += [name] if name != "value" or not parts else []
                estimate = Estimate(float(value), low, high, 0, "")
                dots.append(EstimateDot(", ".join(parts), label, estimate))
    return estimates_figure(dots, title)


def _labels(rows: Sequence[Mapping[str, Any]], excluded: Sequence[str]) -> list[str]:
    """Return a name for each row: its texts that are not the same in all rows."""
    texts = [
        name
        for name in columns_of(rows)
        if name not in (*excluded, "method")
        and all(isinstance(row.get(name), str | None) for row in rows)
    ]
    varying = [name for name in texts if len({row.get(name) for row in rows}) > 1]
    return [
        ", ".join(str(row[name]) for name in varying or texts[:1] if row.get(name)) for row in rows
    ]
