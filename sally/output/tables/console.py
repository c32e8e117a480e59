"""Printing to a terminal: tables that fit, JSON, progress."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sally.core.errors import BadInput
from sally.core.terminal_text import harmless as harmless
from sally.core.terminal_text import steered

if TYPE_CHECKING:
    from rich.progress import Progress

F = TypeVar("F", bound=Callable[..., Any])


def console(stderr: bool = False) -> Console:
    """Where tables and bars are drawn; who puts somebody's text into them makes it harmless."""
    return Console(file=steered(sys.stderr if stderr else sys.stdout), soft_wrap=False)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def print_json(value: Any) -> None:
    """Plain JSON on standard output; a number that JSON cannot hold becomes null."""
    click.echo(json.dumps(_finite(value), indent=2, default=str))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value


def folded(text: str) -> str:
    """Text of anybody for a terminal: harmless, long lines folded; lines stay as they are in pipes.

    A pipe may end at a terminal, so that what steers one is shown there, too.
    """
    text, out = harmless(text), console()
    if not out.is_terminal:
        return text
    lines = text.split("\n")
    return "\n".join(line if len(line) <= out.width else _fold(line, out.width) for line in lines)


def _fold(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)


def print_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], title: str = "") -> None:
    """Rows as a table; numbers to the right, nothing interpreted as markup."""
    console().print(_table(rows, columns, title))


def _table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], title: str) -> Table:
    table = Table(
        title=Text(harmless(title)) if title else None,
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    rows = list(rows)
    for column in columns:
        numeric = all(isinstance(r.get(column), int | float | None) for r in rows)
        table.add_column(
            Text(harmless(column)), justify="right" if numeric else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell(row.get(column))) for column in columns))
    return table


SCREEN = 44  # lines of tables that are printed unasked; sentences come on top


class Shown(msgspec.Struct, frozen=True):
    """What a page of a table left out."""

    first: int  # of the rows on it, counted from 1
    last: int
    rows: int
    pages: int
    columns: tuple[str, ...]  # for which there was no room

    def said(self, more: str) -> list[str]:
        """How to see the rest, where there is any; `more` names the options that choose rows."""
        found = []
        if self.pages > 1:
            found.append(
                f"Rows {self.first} to {self.last} of {self.rows}; --page takes 1 to {self.pages}, "
                f"{more} to choose."
            )
        if self.columns:
            found.append(f"No room for {', '.join(self.columns)}: --metric shows them.")
        return found


def fits(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], most: int = SCREEN) -> bool:
    """Whether a table takes no more than a screen."""
    return _height(rows, columns, "", most) <= most


def print_page(
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    columns: Sequence[str],
    page: int = 1,
    last: Sequence[str] = (),
    title: str = "",
    most: int = SCREEN,
    whole: bool = False,
) -> Shown:
    """As much of a table as a screen holds: rows by the page, columns as far as there is room.

    With `whole`, all columns stand side by side, their texts folded.
    """
    groups = [list(columns)] if whole else fitting(rows, [*keys, *last], columns)
    sizes = [_height(rows, [*keys, *group, *last], title, most) for group in groups]
    kept, size = 1, len(rows)
    while kept < len(groups) and sum(sizes[: kept + 1]) <= most:
        kept += 1
    if sizes[0] > most:  # by the page, then with two groups of columns if there are as many
        kept = min(2, len(groups))
        tables = [[*keys, *group, *last] for group in groups[:kept]]
        size = min(_page_size(rows, table, title, most // kept) for table in tables)
    pages = -(-len(rows) // size) if rows else 1
    if not 1 <= page <= pages:
        raise BadInput(f"There is no page {page}; the table has {pages}.")
    start = (page - 1) * size
    part = rows[start : start + size]
    for group in groups[:kept]:
        there = [row for row in part if any(name in row for name in group)] or part
        print_table(there, [*keys, *group, *last], title)
    left = tuple(name for group in groups[kept:] for name in group)
    return Shown(start + 1, start + len(part), len(rows), pages, left)


def _page_size(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], title: str, most: int
) -> int:
    """How many rows every page can hold, whichever rows these are."""
    size = min(len(rows), most)
    while size > 1 and any(
        _height(part, columns, title, most) > most
        for part in (rows[start : start + size] for start in range(0, len(rows), size))
    ):
        size = max(1, size * 9 // 10)
    return size


def _at_least(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> int:
    """Lines that a table needs however its columns are cut; quick, because nothing is drawn."""
    width = console().width
    texts = (sum(len(cell(row.get(column))) for column in columns) for row in rows)
    return sum(max(1, -(-text // width)) for text in texts)


def _height(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], title: str, most: int
) -> int:
    """The lines of a table; where it is too long in any case, only that it is."""
    least = _at_least(rows, columns)
    return least if least > most else _lines(rows, columns, title)


def _lines(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], title: str) -> int:
    out = console()
    with out.capture() as taken:
        out.print(_table(rows, columns, title))
    return taken.get().count("\n")


def fitting(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], columns: Sequence[str]
) -> list[list[str]]:
    """The columns in as many groups as it takes for each to fit the terminal beside the keys."""

    def width(column: str) -> int:
        return 2 + max(len(column), *(len(cell(row.get(column))) for row in rows))

    room = console().width - 1 - sum(width(key) for key in keys)
    groups: list[list[str]] = [[]]
    left = room
    for column in columns:
        if groups[-1] and width(column) > left:
            groups.append([])
            left = room
        groups[-1].append(column)
        left -= width(column)
    return groups


def estimate_cell(
    value: float | None, interval: Sequence[float] | None, places: int | None = None
) -> str:
    """A value with its interval: `1.00 ±0.20` where it is even, else `1.00 [0.70, 1.10]`."""
    if value is None:
        return "-"
    if places is None:
        places = 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1
    if interval is None:
        return f"{value:.{places}f}"
    low, high = interval
    even = abs((high - value) - (value - low)) < 0.5 * 10**-places
    if even:
        return f"{value:.{places}f} ±{high - value:.{places}f}"
    return f"{value:.{places}f} [{low:.{places}f}, {high:.{places}f}]"


def cell(value: Any) -> str:
    """One value in a table: three decimals, intervals as [low, high], nothing as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"[{cell(value[0])}, {cell(value[1])}]"
    return harmless(str(value))


def progress() -> Progress:
    """A bar with what is done and how long it took; the note says the rest."""
    from rich.progress import (  # heavy, and a list needs no bar
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=console(stderr=True),
        transient=True,
        disable=not console(stderr=True).is_terminal,  # no stray lines in files and pipes
    )
