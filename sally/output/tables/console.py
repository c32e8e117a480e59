"""Terminal output: tables that fit the width, JSON, progress bars."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sally.core.grouping import group_by
from sally.core.terminal_text import echo
from sally.core.terminal_text import harmless as harmless

if TYPE_CHECKING:
    from rich.progress import Progress

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """A whole number between two bounds; the message about another one names the bound."""

    name = "integer"

    def __init__(self, least: int = 1, most: int = 10**9) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number: int = click.INT.convert(value, param, ctx)
        if number < self.least:
            self.fail(f"the number must be at least {self.least:,}.", param, ctx)
        if number > self.most:
            self.fail(f"the number must be at most {self.most:,}.", param, ctx)
        return number


class FiniteNumber(click.FloatRange):
    """A number between two bounds that is not NaN."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"the number must be finite, not {number}.", param, ctx)
        return number


PLAYED = WholeNumber(most=100_000)  # episodes, rollouts, pairs or people of one command
TOKENS = WholeNumber(most=10**15)
SEED = WholeNumber(-(2**63), 2**63 - 1)
PATH = click.Path(path_type=Path)  # type of options that name a file or folder


def console(stderr: bool = False) -> Console:
    """Return a console for tables and bars; callers must escape text from outside with
    `harmless`."""
    return Console(stderr=stderr, soft_wrap=False)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


EQUAL = "all values are equal"


def print_json(value: Any) -> None:
    """Print JSON to standard output, with the values of `json_values`."""
    echo(json.dumps(json_values(value), indent=2, default=str))


def json_values(value: Any) -> Any:
    """Return a result as JSON shows it.

    Non-finite numbers become null. So does an interval of equal values, which have no error that
    could be estimated; the method says so, or the field `NAME_interval_missing`.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        from sally.stats.intervals import WHY  # loads scipy

        plain = {key: json_values(field) for key, field in value.items()}
        for key, field in value.items():
            if str(key).endswith("interval") and is_without_error(field):
                has_method = key == "interval" and "method" in value
                reason = f"{value['method']}{WHY}{EQUAL}" if has_method else EQUAL
                plain |= {key: None, "method" if has_method else f"{key}_missing": reason}
        return plain
    if isinstance(value, list | tuple):
        return [json_values(v) for v in value]
    return value


def is_without_error(interval: Any) -> bool:
    """Return whether an interval has equal ends, because every value or cluster was equal."""
    is_pair = isinstance(interval, list | tuple) and len(interval) == 2
    return is_pair and interval[0] is not None and interval[0] == interval[1]


def fold_text(text: str) -> str:
    """Escape control characters and, on a terminal, wrap long lines.

    Control characters are escaped in piped output too, because a pipe may end at a terminal.
    """
    text, out = harmless(text), console()
    if not out.is_terminal:
        return text
    lines = text.split("\n")
    return "\n".join(line if len(line) <= out.width else _fold(line, out.width) for line in lines)


def _fold(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)


def print_text(*paragraphs: str) -> None:
    """Print texts one below the other, with long lines wrapped on a terminal."""
    for text in paragraphs:
        echo(fold_text(text))


FEW = 3  # notes of one kind that are printed one by one


def by_kind(lines: Iterable[str]) -> list[str]:
    """Return notes such as `unknown file: PATH: why`; many notes of one kind are merged into one
    line.

    >>> by_kind(["copy: a", "copy: b", "copy: c", "copy: d", "label: x"])
    ['copy: 4 times, first a', 'label: x']
    """
    notes: list[str] = []
    for kind, group in group_by(lines, lambda line: line.partition(": ")[0]).items():
        first = group[0].partition(": ")[2]
        notes += group if len(group) <= FEW else [f"{kind}: {len(group):,} times, first {first}"]
    return notes


def print_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], title: str = "") -> None:
    """Print rows as a table; numbers are right-aligned, and no text is interpreted as markup."""
    console().print(_table(rows, columns, title))


def print_rows(rows: Sequence[Mapping[str, Any]], as_json: bool, title: str = "") -> None:
    """Print rows as JSON, or as a table with every column of any row."""
    if as_json:
        print_json(rows)
    else:
        print_table(rows, list(dict.fromkeys(key for row in rows for key in row)), title)


FIGURE = re.compile(r"(all )?[-+0-9.,±%\[\]() ≈≠?n]*")  # a number, its interval, n and verdict


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
    texts = {column: [cell(row.get(column)) for row in rows] for column in columns}
    figures = {column for column, cells in texts.items() if all(map(FIGURE.fullmatch, cells))}
    has_room = _leaves_room(texts, figures)
    for column in columns:
        numeric = all(isinstance(r.get(column), int | float | None) for r in rows)
        table.add_column(
            Text(harmless(column)),
            justify="right" if numeric else "left",
            overflow="fold",
            # texts are wrapped first, so that a number keeps its interval
            no_wrap=column in figures and has_room,
        )
    for row in rows:
        table.add_row(*(Text(cell(row.get(column))) for column in columns))
    return table


WORD = 12  # characters of a word that are not broken for the sake of a number


def _leaves_room(texts: Mapping[str, Sequence[str]], figures: Set[str]) -> bool:
    """Return whether the table fits the console without wrapping the columns `figures` and without
    breaking the words of the other columns (words of up to 12 characters)."""
    room = console().width
    for column, cells in texts.items():
        width = max(map(len, [column, *cells])) if column in figures else _longest_word(cells)
        room -= 2 + width
    return room >= 0


def _longest_word(texts: Iterable[str]) -> int:
    return min(max((len(word) for text in texts for word in text.split()), default=1), WORD)


SCREEN = 44  # lines of a short list


def fits(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bool:
    """Return whether a table fits on one screen."""
    out = console()
    with out.capture() as capture:
        out.print(_table(rows, columns, ""))
    return capture.get().count("\n") <= SCREEN


def fitting(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], columns: Sequence[str]
) -> list[list[str]]:
    """Split the columns into groups; each fits the terminal together with the key columns."""

    def width(column: str) -> int:
        return 2 + max(len(column), *(len(cell(row.get(column))) for row in rows))

    room = console().width - 1 - sum(width(key) for key in keys)
    return fit_groups({column: width(column) for column in columns}, room)


def fit_groups(widths: Mapping[T, int], room: int) -> list[list[T]]:
    """Split columns into groups, in order, that each fit into a room; at least one in a group."""
    groups: list[list[T]] = [[]]
    room_left = room
    for column, width in widths.items():
        if groups[-1] and width > room_left:
            groups.append([])
            room_left = room
        groups[-1].append(column)
        room_left -= width
    return groups


ALL_ZERO = "all 0"
ALL_EQUAL = "all: every episode or cluster has this value; repeats that are equal show no error."
MOST_PLACES = 6


def estimate_cell(
    value: float | None, interval: Sequence[float] | None, places: int | None = None
) -> str:
    """Format a value with its interval: `1.00 ±0.20` if symmetric, else `1.00 [0.70, 1.10]`.

    A value that is the same in every cluster has no error, however few clusters there are, and is
    written `all 1.00`, or `all 0`.
    """
    if value is None:
        return "-"
    if value == 0 and interval is not None and not any(interval):
        return ALL_ZERO
    if places is None:
        places = 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1
    if interval is None:
        return f"{value:z.{places}f}"
    low, high = interval
    if is_without_error(interval):
        return f"all {value:z.{places}f}"
    while 0 < high - low < 10**-places and places < MOST_PLACES:
        places += 1  # an error that is not zero is not shown as zero
    even = abs((high - value) - (value - low)) < 0.5 * 10**-places
    if even:
        return f"{value:z.{places}f} ±{high - value:.{places}f}"
    return f"{value:z.{places}f} [{low:.{places}f}, {high:.{places}f}]"


def p_cell(p: float | None) -> str | None:
    """Format a p value with three decimals, or as `<.001`."""
    return None if p is None else "<.001" if p < 0.001 else f"{p:.3f}"


def cell(value: Any) -> str:
    """Format a table cell: three decimals, intervals as [low, high], None as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:z.3f}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"[{cell(value[0])}, {cell(value[1])}]"
    return harmless(str(value))


def progress() -> Progress:
    """Return a progress bar with counts, elapsed time and a note."""
    from rich.progress import (  # slow to import, and most commands need no bar
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
        TextColumn("{task.fields[note]}", markup=False),
        console=console(stderr=True),
        transient=True,
        disable=not console(stderr=True).is_terminal,  # no stray lines in files and pipes
    )
