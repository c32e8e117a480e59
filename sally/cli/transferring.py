"""`sally transfer`: what training on one thing changed on others, from stores that say so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import click
import msgspec

from sally.analysis.transfer import UNTRAINED, Cell, grid, tagged, transfer
from sally.cli.comparing import episodes_of
from sally.output.console import estimate_cell, json_option, print_json, print_table
from sally.output.figures_transfer import draw
from sally.stats import Estimate

TITLES = {
    "doing": "doing: 0 is a random player, 1 the optimum or the reference",
    "knowing": "knowing: 0 is an even guess, 1 everything foreseen",
}


@click.command("transfer")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option("--figure", type=click.Path(path_type=Path), help="A picture: .svg, .pdf or .png.")
@json_option
def transfer_(folders: tuple[str, ...], figure: Path | None, as_json: bool) -> None:
    """What players were trained on (rows) against what they were tested on (columns)."""
    cells = transfer(tagged(chain.from_iterable(map(episodes_of, folders))))
    if figure is not None:
        draw(cells, figure)
    if as_json:
        print_json([msgspec.to_builtins(cell) for cell in cells])
        return
    for of, title in TITLES.items():
        say(cells, of, title)
    if any(cell.trained_on == UNTRAINED for cell in cells):
        click.echo("behind the comma: the change against the untrained player, paired by setting")
    if figure is not None:
        click.echo(f"Picture: {figure}")


def say(cells: Sequence[Cell], of: str, title: str) -> None:
    """One of the two as a table: the value with its interval, and what training changed."""
    rows, columns, values = grid(cells, of)
    changes = grid(cells, f"{of}_change")[2]
    click.echo(title)
    shown = []
    for name, line, changed in zip(rows, values, changes, strict=True):
        said = {"trained on": name}
        for column, value, change in zip(columns, line, changed, strict=True):
            said[column] = "-" if value is None else estimate_cell(value.value, value.interval, 2)
            if change is not None and change.value is not None:
                said[column] += f", {_signed(change)}"
        shown.append(said)
    print_table(shown, ["trained on", *columns])


def _signed(change: Estimate) -> str:
    value, interval = change.value, change.interval
    if interval is None:
        return f"{value:+.2f}"
    return f"{value:+.2f} [{interval[0]:+.2f}, {interval[1]:+.2f}]"
