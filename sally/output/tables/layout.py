"""Tables in the layout of a paper, with our values below each line of published values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from sally.analysis.compare.agreement import MARGIN, Verdict
from sally.analysis.compare.published_figures import Condition, PublishedTable, Spread
from sally.output.value_text import figure

Conditions = Mapping[str, Condition]
PUBLISHED, REFERENCE, OURS = "published", "reference", "ours"
# Sources of values that no paper prints: computed by us from records, rules or public code.
NOT_PRINTED = ("computed", "Data released", "Full enumeration", "measured", "Mixed model", "Replay")
SIGNS: Mapping[Verdict, str] = {"equivalent": "≈", "different": "≠", "undecided": "?"}
BARE = ("exact", "sign", "count")  # methods whose zero-width intervals are not shown
MOST_COLUMNS = 4  # of the default layout; beyond that, one value per line
LEGEND = (
    f"{SIGNS['equivalent']} equivalent to the published value within {MARGIN:.0%} (two one-sided "
    f"tests at 5%), {SIGNS['different']} different (5%), {SIGNS['undecided']} undecided"
)


@dataclass(frozen=True)
class Stub:
    """A label column at the left of a table."""

    heading: str
    label: Callable[[Conditions], str]
    printed: bool = True  # False: shown only if it distinguishes lines


@dataclass(frozen=True)
class Column:
    """A column of values: its metric and conditions."""

    heading: str
    metric: str
    where: Conditions = field(default_factory=dict)
    group: str = ""  # heading above several columns
    places: int | None = 3  # decimals; None: by magnitude
    beside: str = ""  # second metric, in parentheses


@dataclass(frozen=True)
class Layout:
    """Lines, labels and columns of a table."""

    keys: tuple[str, ...]  # conditions that identify a line
    stubs: tuple[Stub, ...]
    columns: tuple[Column, ...]  # empty: one value per line
    caption: str = ""  # replaces the table's title


class OwnValue(msgspec.Struct, frozen=True):
    """Our value of the same cell by our own measure, if the paper defines the metric
    differently."""

    metric: str
    value: float
    interval: tuple[float, float] | None


class Row(msgspec.Struct, frozen=True):
    """A published value and ours; intervals `[low, high]` are 95% intervals unless `method` says
    otherwise."""

    table: str
    row: dict[str, Condition]
    metric: str
    published: float | None  # None: not in the paper
    published_interval: tuple[float, float] | None
    ours: float | None
    ours_interval: tuple[float, float] | None
    verdict: Verdict | None  # None: untestable
    published_spread: Spread | None = None
    p: float | None = None  # p value of the test of equality
    p_equivalent: float | None = None  # p value of a difference beyond the margin
    margin: float | None = None
    needs: int | None = None  # n of ours that would decide an undecided row
    target: str | None = None  # source of the published value
    n: int = 0  # episodes, decisions or simulations behind ours
    computed: bool = False  # without stored episodes
    censored: int = 0  # censored episodes, which give no value
    forfeited: int = 0  # forfeited moves in the cell's episodes
    method: str | None = None
    exact: OwnValue | None = None
    missing: str | None = None  # why ours is None
    run: str | None = None  # command that supplies it
    note: str | None = None


class Line(msgspec.Struct, frozen=True):
    """One formatted line of a table."""

    labels: tuple[str, ...]
    data: str  # published, reference or ours
    cells: tuple[str, ...]


class Grid(msgspec.Struct, frozen=True):
    """A formatted table."""

    name: str
    caption: str
    stubs: tuple[str, ...]
    groups: tuple[str, ...]  # one per column; empty: no group
    headings: tuple[str, ...]
    lines: tuple[Line, ...]


def laid_out(
    name: str,
    table: PublishedTable,
    rows: Sequence[Row],
    layout: Layout | None = None,
    exact: bool = False,
) -> Grid:
    """Return the rows in the table's layout. With `exact`, our values are by Sally's own measures
    where these differ from the paper's."""
    layout = layout or plain(table)
    stubs = [s for s in layout.stubs if s.printed or _tells_apart(s, rows)]
    lines: list[Line] = []
    for line_rows in _lines(rows, layout):
        labels = [stub.label(line_rows[0].row) for stub in stubs]
        if not layout.columns:
            labels.append(_with_spaces(line_rows[0].metric))
        columns = layout.columns or (Column("figure", line_rows[0].metric, places=None),)
        entries = [
            (c, _cell(line_rows, c, c.metric), _cell(line_rows, c, c.beside)) for c in columns
        ]
        if any(row.published is not None for row in line_rows):
            cells = tuple(_published_text(*entry) for entry in entries)
            source = PUBLISHED if any(map(is_printed, line_rows)) else REFERENCE
            lines.append(Line(tuple(labels), source, cells))
        lines.append(Line(tuple(labels), OURS, tuple(_ours(*entry, exact) for entry in entries)))
    return Grid(
        name,
        layout.caption or table.title,
        (*(stub.heading for stub in stubs), *(() if layout.columns else ("measure",))),
        tuple(column.group for column in layout.columns) or ("",),
        tuple(column.heading for column in layout.columns) or ("figure",),
        tuple(lines),
    )


def is_printed(row: Row) -> bool:
    """Return whether the paper prints a value; otherwise we computed it from the paper's
    records."""
    return row.published is not None and not (row.target or "").startswith(NOT_PRINTED)


def plain(table: PublishedTable) -> Layout:
    """Return the default layout: one label per condition, one column per metric."""
    metrics = list(dict.fromkeys(figure.metric for figure in table.rows))
    keys = tuple(column for column in table.columns if column not in metrics)
    few = metrics if len(metrics) <= MOST_COLUMNS else []
    return Layout(
        keys,
        tuple(Stub(_with_spaces(key), _value_of(key)) for key in keys),
        tuple(Column(_with_spaces(metric), metric, places=None) for metric in few),
    )


def _tells_apart(stub: Stub, rows: Sequence[Row]) -> bool:
    return len({stub.label(row.row) for row in rows} - {""}) > 1


def _value_of(key: str) -> Callable[[Conditions], str]:
    return lambda row: str(row.get(key, ""))


def _with_spaces(name: str) -> str:
    return name.replace("_", " ")


def _lines(rows: Sequence[Row], layout: Layout) -> Iterator[list[Row]]:
    """Yield the compared values of each printed line, in printed order."""
    rows_by_line: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        line = tuple(row.row.get(key) for key in layout.keys)
        rows_by_line.setdefault(line if layout.columns else (*line, row.metric), []).append(row)
    yield from rows_by_line.values()


def _cell(line: Sequence[Row], column: Column, metric: str) -> Row | None:
    fits = (r for r in line if r.metric == metric and column.where.items() <= r.row.items())
    return next(fits, None)


# --- cells as text ------------------------------------------------------------------------------


def _published_text(column: Column, cell: Row | None, beside: Row | None) -> str:
    if cell is None or cell.published is None:
        return ""
    text = figure(cell.published, cell.published_interval, column.places)
    spread = cell.published_spread
    if spread is not None and cell.published_interval is None:
        text += f" ({spread.kind.upper()} {figure(spread.value, None, column.places)})"
    if beside is not None and beside.published is not None:
        text += f" ({beside.published:+.2f})"
    return text


def _ours(column: Column, cell: Row | None, beside: Row | None, exact: bool) -> str:
    if cell is None:
        return ""
    if cell.ours is None:
        return "not run" if cell.missing in (None, "not run") else "missing"
    if exact and cell.exact is not None:
        return figure(cell.exact.value, cell.exact.interval, column.places)
    ends = cell.ours_interval
    if ends is not None and ends[0] == ends[1] and (cell.method or "").startswith(BARE):
        ends = None
    text = figure(cell.ours, ends, column.places)
    if beside is not None and beside.ours is not None:
        text += f" ({beside.ours:+.2f})"
    return text if cell.verdict is None else f"{text} {SIGNS[cell.verdict]}"
