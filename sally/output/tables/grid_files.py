"""Laid-out tables as files: CSV to compute with, LaTeX to print, in the layout of the paper."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from itertools import groupby
from pathlib import Path

from sally.core.errors import BadInput, listed
from sally.output.files.export import harmless, latex, write_text
from sally.output.tables.layout import AGREES, DIFFERS, Grid, Line

SYMBOLS = {"Δ": r"$\Delta$", AGREES: r"$\approx$", DIFFERS: r"$\neq$", "–": "--"}


def write_grids(grids: Sequence[Grid], path: Path) -> None:
    """Write tables to a file, in the form its ending asks for."""
    forms = {".csv": csv_of, ".tex": latex_of}
    if path.suffix not in forms:
        raise BadInput(f"Tables are written as {listed(forms, 'or')}, not as {path.name!r}.")
    write_text(forms[path.suffix](grids), path)


def csv_of(grids: Sequence[Grid]) -> str:
    """Every table under the last, each with its own head."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for grid in grids:
        writer.writerow(["table", *grid.stubs, "data", *_full_headings(grid)])
        for line in grid.lines:
            labels = map(harmless, line.labels)  # a model may be called anything
            writer.writerow([grid.name, *labels, line.data, *line.cells])
    return out.getvalue()


def _full_headings(grid: Grid) -> list[str]:
    both = zip(grid.groups, grid.headings, strict=True)
    return [f"{group}: {heading}" if group else heading for group, heading in both]


def latex_of(grids: Sequence[Grid]) -> str:
    """Every table as a float for the booktabs package."""
    head = "% needs \\usepackage{booktabs}; figures with 95% intervals\n"
    return head + "\n".join(_latex(grid) for grid in grids)


def _latex(grid: Grid) -> str:
    labels, columns = len(grid.stubs) + 1, len(grid.headings)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escaped(grid.caption)}}}",
        rf"\begin{{tabular}}{{{'l' * labels}{'r' * columns}}}",
        r"\toprule",
        *_group_heads(grid, labels),
        _latex_line([*grid.stubs, "", *grid.headings]),
        r"\midrule",
        *(_latex_line([*_fresh(line, before), line.data, *line.cells])
          for before, line in zip((None, *grid.lines), grid.lines, strict=False)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _group_heads(grid: Grid, labels: int) -> list[str]:
    if not any(grid.groups):
        return []
    spans = [(group, len(list(same))) for group, same in groupby(grid.groups)]
    heads = [rf"\multicolumn{{{wide}}}{{c}}{{{escaped(group)}}}" for group, wide in spans]
    return [" & ".join([""] * labels + heads) + r" \\"]


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"


def _fresh(line: Line, before: Line | None) -> list[str]:
    """The labels of a line, without those that the line above has already said."""
    return fresh(line.labels, before.labels if before else None)


def fresh(labels: Sequence[str], before: Sequence[str] | None) -> list[str]:
    """Labels, blank from the left as long as the line above says the same."""
    same = before is not None
    shown = []
    for at, label in enumerate(labels):
        same = same and before is not None and before[at] == label
        shown.append("" if same else label)
    return shown


def escaped(text: str) -> str:
    """Text that LaTeX prints as it stands, the signs of our tables included."""
    return "".join(SYMBOLS.get(sign) or latex(sign) for sign in text)
