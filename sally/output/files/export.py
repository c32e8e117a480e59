"""Tables as CSV, LaTeX and Parquet files.

Columns are declared before the first row (`sally.frames.schema`), so a file's columns do not depend
on its rows. CSV files are written one file of a store after another, in little memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from sally.analysis.profile.columns import COLUMNS
from sally.analysis.profile.profile import ProfileRow, flat_columns, flat_row
from sally.core.errors import BadInput, join_names
from sally.frames.build import frame_of
from sally.frames.frame import Frame
from sally.frames.schema import DECISION, EPISODE, EXPORTED_DECISION, EXPORTED_SEAT, SEAT, Column
from sally.output.files.new_file import new_file
from sally.stats.intervals import Estimate

ENDINGS = (".csv", ".tex", ".parquet")
FIELDS = {column.field: column for column in (*EPISODE, *SEAT)}
DECISION_FIELDS = {column.field: column for column in (*EPISODE, *DECISION)}


class ExportedTable:
    """A table to be written: its columns, and its rows as frames."""

    def __init__(self, columns: Sequence[Column], parts: Iterable[pl.DataFrame]) -> None:
        self.columns, self.parts = columns, parts

    @property
    def names(self) -> list[str]:
        return [column.field for column in self.columns]


def episode_table(frame: Frame) -> ExportedTable:
    """Return one row per seat of each episode, with every metric of the games."""
    metrics = [name for name in frame.metrics() if name not in EXPORTED_SEAT]
    frame.prepare(metrics)
    columns = [FIELDS.get(name, Column(name)) for name in (*EXPORTED_SEAT, *metrics)]
    names = [column.field for column in columns]
    return ExportedTable(columns, (part.seats(*names) for part in frame.parts()))


def decision_table(frame: Frame) -> ExportedTable:
    """Return one row per move, forfeit and report."""
    columns = [DECISION_FIELDS[name] for name in EXPORTED_DECISION]
    parts = (part.decisions().select(EXPORTED_DECISION) for part in frame.parts())
    return ExportedTable(columns, parts)


def profile_table(rows: Iterable[ProfileRow]) -> ExportedTable:
    """Return the rows of a profile with one number per column."""
    columns = flat_columns()
    return ExportedTable(columns, [frame_of([flat_row(row) for row in rows], columns)])


# --- the profile in LaTeX -------------------------------------------------------------------------


def profile_latex(rows: Sequence[ProfileRow]) -> str:
    """Return the profile as a LaTeX table of estimates with intervals; columns without a value are
    left out."""
    # A part that is constant within each game needs no column.
    parts = [
        part
        for part in ("seat", "cell", "part")
        if len({(row.game, getattr(row, part)) for row in rows}) > len({row.game for row in rows})
    ]
    columns = [c for c in COLUMNS if any(row.estimates[c.field].value is not None for row in rows)]
    heads = ["game", *parts, "player", "$n$", *(latex(column.title) for column in columns)]
    lines = []
    for row in rows:
        labels = [row.game, *(getattr(row, part) for part in parts), row.player]
        cells = [_latex_estimate(row.estimates[column.field], column.digits) for column in columns]
        lines.append([*map(latex, labels), str(row.episodes), *cells])
    ends = dict.fromkeys(
        f"{latex(row.game)}: 0 is {latex(row.random.player)}, 1 is "
        f"{latex(row.reference.player)} ({row.reference.standing})"
        for row in rows
        if row.random and row.reference
    )
    notes = [
        *(f"{latex(column.title)}: {latex(column.about)}." for column in columns),
        "In brackets: 95\\% intervals over clusters of episodes.",
        *ends,
    ]
    align = "l" * (2 + len(parts)) + "r" + "l" * len(columns)
    return _tabular("tabular", align, heads, lines) + "".join(f"% {note}\n" for note in notes)


def _latex_estimate(estimate: Estimate, digits: int | None) -> str:
    if estimate.value is None:
        return "--"
    form = "{:.3g}" if digits is None else f"{{:.{digits}f}}"
    value = _minus(form.format(estimate.value))
    if estimate.low is None or estimate.high is None:
        return value
    low, high = (_minus(form.format(bound)) for bound in (estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _minus(number: str) -> str:
    return f"${number}$" if number.startswith("-") else number


# --- writing --------------------------------------------------------------------------------------


def check(path: Path) -> str:
    """Return the suffix of a table's file.

    Raises:
        BadInput: Tables cannot be written in that format.
    """
    if path.suffix not in ENDINGS:
        raise BadInput(f"A table is written as {join_names(ENDINGS, 'or')}, not as {path.name!r}.")
    return path.suffix


def write_table(table: ExportedTable, path: Path) -> int:
    """Write a table in the format that the file's suffix names; return the number of rows."""
    form = {".csv": _csv, ".tex": _latex, ".parquet": _parquet}[check(path)]
    with new_file(path, "table") as unfinished:
        return form(table, unfinished)


def write_text(text: str, path: Path) -> None:
    """Write a text file atomically."""
    with new_file(path, "table") as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _csv(table: ExportedTable, path: Path) -> int:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\r\n")  # RFC 4180
        out.writerow(table.names)
        count = 0
        for part in table.parts:
            for row in part.select(table.names).iter_rows():
                out.writerow([c if type(c) in AS_THEY_ARE else _in_csv(c) for c in row])
            count += part.height
        return count


AS_THEY_ARE = {float, int, type(None)}  # written by the csv module as by `_text`


def _in_csv(value: Any) -> str:
    return formula_safe(value) if isinstance(value, str) else _text(value)


FORMULA = ("=", "+", "-", "@", "\t", "\r")  # characters that start a spreadsheet formula


def formula_safe(text: str) -> str:
    """Return a text, with an apostrophe in front if a spreadsheet would run it as a formula;
    numbers stay as they are."""
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _text(value: Any) -> str:
    """Format a value: None as an empty string, lists as JSON, numbers in full precision."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value) if isinstance(value, list | tuple | dict) else str(value)


def _latex(table: ExportedTable, path: Path) -> int:
    """Write a longtable without empty columns."""
    rows = pl.concat(table.parts, how="diagonal_relaxed")
    filled_columns = [c for c in table.columns if rows[c.field].null_count() < rows.height]
    align = "".join("r" if c.type.is_numeric() else "l" for c in filled_columns)
    lines = [
        [_cell_in_print(cell) for cell in row]
        for row in rows.select(c.field for c in filled_columns).iter_rows()
    ]
    heads = [latex(c.field) for c in filled_columns]
    path.write_text(_tabular("longtable", align, heads, lines), encoding="utf-8")
    return rows.height


def _cell_in_print(value: Any) -> str:
    if isinstance(value, int | float):
        return _minus(f"{value:.4g}" if isinstance(value, float) else str(value))
    return latex(_text(value))


def _tabular(kind: str, align: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a LaTeX table in the style of booktabs."""
    needs = "booktabs" if kind == "tabular" else "booktabs and longtable"
    body = "".join(" & ".join(line) + " \\\\\n" for line in lines)
    return (
        f"% needs {needs}\n\\begin{{{kind}}}{{{align}}}\n\\toprule\n"
        + " & ".join(heads)
        + " \\\\\n\\midrule\n"
        + ("\\endhead\n" if kind == "longtable" else "")
        + f"{body}\\bottomrule\n\\end{{{kind}}}\n"
    )


ESCAPED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "±": r"$\pm$",
}  # fmt: skip


def latex(text: str) -> str:
    """Escape a text for LaTeX."""
    printed = (letter if letter.isprintable() else " " for letter in text)
    return "".join(ESCAPED.get(letter, letter) for letter in printed)


def _parquet(table: ExportedTable, path: Path) -> int:
    rows = pl.concat(table.parts, how="diagonal_relaxed").select(table.names)
    content = BytesIO()  # polars names no reason if it cannot write a file
    rows.with_columns(pl.col(pl.Categorical).cast(pl.String)).write_parquet(content)
    path.write_bytes(content.getbuffer())
    return rows.height
