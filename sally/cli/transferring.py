"""`sally transfer`: the effect of training on one task on performance in others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import click
import msgspec

from sally.analysis.compare.transfer import UNTRAINED, TransferCell, grid, tagged, transfer
from sally.cli.common import STORE
from sally.cli.comparing import episodes_of
from sally.core.terminal_text import echo
from sally.output.figures.heat_maps import transfer_figure
from sally.output.figures.panels import write
from sally.output.files.bundle_reader import opened
from sally.output.tables.console import estimate_cell, json_option, print_json, print_table
from sally.stats import Estimate
from sally.store import Where

TITLES = {
    "doing": "doing: 0 is a random player, 1 the optimum or the reference player",
    "knowing": "knowing: 0 is a uniform guess, 1 perfect prediction",
}


@click.command("transfer")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=STORE)
@click.option(
    "--figure", type=click.Path(path_type=Path), help="Draw a figure: .svg, .pdf or .png."
)
@json_option
def transfer_(folders: tuple[Where, ...], figure: Path | None, as_json: bool) -> None:
    """Show the effect of training on one task (rows) on performance in others (columns)."""
    with ExitStack() as open_ones:
        places = [open_ones.enter_context(opened(folder))[0] for folder in folders]
        cells = transfer(tagged(chain.from_iterable(map(episodes_of, places))))
    if figure is not None:
        write(transfer_figure(cells), figure)
    if as_json:
        print_json([msgspec.to_builtins(cell) for cell in cells])
        return
    for of, title in TITLES.items():
        say(cells, of, title)
    say_seeds(cells)
    if any(cell.trained_on == UNTRAINED for cell in cells):
        echo("after the comma: the change from the untrained player, paired by setting")
    if figure is not None:
        echo(f"Figure: {figure}")


def say(cells: Sequence[TransferCell], of: str, title: str) -> None:
    """Print doing or knowing as a table: values with intervals, and the change due to training."""
    rows, columns, values = grid(cells, of)
    changes = grid(cells, f"{of}_change")[2]
    echo(title)
    shown = []
    for name, line, changed in zip(rows, values, changes, strict=True):
        said = {"trained on": name}
        for column, value, change in zip(columns, line, changed, strict=True):
            said[column] = "-" if value is None else estimate_cell(value.value, value.interval, 2)
            if change is not None and change.value is not None:
                said[column] += f", {_signed(change)}"
        shown.append(said)
    print_table(shown, ["trained on", *columns])


def say_seeds(cells: Sequence[TransferCell]) -> None:
    """Print doing and knowing by training seed, for rows trained more than once."""
    several = [cell for cell in cells if len(cell.by_seed) > 1]
    if not several:
        return
    columns = list(dict.fromkeys(cell.tested_on for cell in several))
    seeds = list(dict.fromkeys((c.trained_on, seed) for c in several for seed in c.by_seed))
    found = {(c.trained_on, c.tested_on): c.by_seed for c in several}
    shown = []
    for row, seed in seeds:
        said = {"trained on": row, "seed": seed}
        for column in columns:
            both = found.get((row, column), {}).get(seed, (None, None))
            said[column] = ", ".join("-" if one is None else f"{one:.2f}" for one in both)
        shown.append(said)
    for row in dict.fromkeys(cell.trained_on for cell in several):
        mine = {cell.tested_on: cell.over_seeds() for cell in several if cell.trained_on == row}
        means = {column: ", ".join(map(_over, both)) for column, both in mine.items()}
        shown.append({"trained on": row, "seed": "all", **means})
    echo("doing, knowing by training seed and over all seeds")
    print_table(shown, ["trained on", "seed", *columns])


def _over(found: Estimate) -> str:
    return "-" if found.value is None else estimate_cell(found.value, found.interval, 2)


def _signed(change: Estimate) -> str:
    value, interval = change.value, change.interval
    if interval is None:
        return f"{value:+.2f}"
    return f"{value:+.2f} [{interval[0]:+.2f}, {interval[1]:+.2f}]"
