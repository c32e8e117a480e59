"""Tables in a paper's layout as CSV or LaTeX files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from itertools import groupby
from pathlib import Path

from sally.core.errors import BadInput, join_names
from sally.output.files.export import formula_safe, latex, write_text
from sally.output.tables.layout import SIGNS, Grid, Line

SYMBOLS = {
    "Δ": r"$\Delta$",
    SIGNS["equivalent"]: r"$\approx$",
    SIGNS["different"]: r"$\neq$",
    "–": "--",
}


def write_grids(grids: Sequence[Grid], path: Path) -> None:
    """Write tables to a file; the suffix of the file selects the format.

    Raises:
        BadInput: The suffix is unknown.
    """
    forms = {".csv": csv_of, ".tex": latex_of}
    if path.suffix not in forms:
        raise BadInput(f"Tables are written as {join_names(forms, 'or')}, not as {path.name!r}.")
    write_text(forms[path.suffix](grids), path)


def csv_of(grids: Sequence[Grid]) -> str:
    """Return all tables as CSV, one below another, each with its header."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for grid in grids:
        writer.writerow(["table", *grid.stubs, "data", *_full_headings(grid)])
        for line in grid.lines:
            labels = map(formula_safe, line.labels)  # a model name may start like a formula
            writer.writerow([grid.name, *labels, line.data, *line.cells])
    return out.getvalue()


def _full_headings(grid: Grid) -> list[str]:
    pairs = zip(grid.groups, grid.headings, strict=True)
    return [f"{group}: {heading}" if group else heading for group, heading in pairs]


def latex_of(grids: Sequence[Grid]) -> str:
    """Return all tables as LaTeX floats for the booktabs package."""
    head = "% needs \\usepackage{booktabs}; values with 95% intervals\n"
    return head + "\n".join(_latex(grid) for grid in grids)


def _latex(grid: Grid) -> str:
    labels, columns = len(grid.stubs) + 1, len(grid.headings)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escape_latex(grid.caption)}}}",
        rf"\begin{{tabular}}{{{'l' * labels}{'r' * columns}}}",
        r"\toprule",
        *_group_heads(grid, labels),
        _latex_line([*grid.stubs, "", *grid.headings]),
        r"\midrule",
        *(_latex_line([*_fresh(line, previous), line.data, *line.cells])
          for previous, line in zip((None, *grid.lines), grid.lines, strict=False)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _group_heads(grid: Grid, labels: int) -> list[str]:
    if not any(grid.groups):
        return []
    spans = [(group, len(list(members))) for group, members in groupby(grid.groups)]
    heads = [rf"\multicolumn{{{wide}}}{{c}}{{{escape_latex(group)}}}" for group, wide in spans]
    return [" & ".join([""] * labels + heads) + r" \\"]


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(escape_latex(cell) for cell in cells) + r" \\"


def _fresh(line: Line, previous: Line | None) -> list[str]:
    """Return the labels of a line; labels that the line above has, too, are blank."""
    return fresh(line.labels, previous.labels if previous else None)


def fresh(labels: Sequence[str], previous: Sequence[str] | None) -> list[str]:
    """Return labels; leading labels that are the same as in the line above are left blank."""
    is_repeated = previous is not None
    visible = []
    for index, label in enumerate(labels):
        is_repeated = is_repeated and previous is not None and previous[index] == label
        visible.append("" if is_repeated else label)
    return visible


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, including the symbols of our tables."""
    return "".join(SYMBOLS.get(sign) or latex(sign) for sign in text)
