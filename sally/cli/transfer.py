"""`sally compare --transfer`: the effect of training on one task on performance in others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from sally.analysis.compare.transfer import (
    UNTRAINED,
    TransferCell,
    grid,
    read_trained_seats,
    transfer,
)
from sally.cli.common import STORE, open_frame, say_bad
from sally.core.terminal_text import echo
from sally.output.figures.heat_maps import transfer_figure
from sally.output.figures.panels import write
from sally.output.tables.console import (
    PATH,
    estimate_cell,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.stats.intervals import Estimate, blank_intervals
from sally.store import Where

TITLES = {
    "doing": "doing: 0 is a random player, 1 the optimum or the reference player",
    "knowing": "knowing: 0 is a uniform guess, 1 perfect prediction",
}


@click.command("transfer")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=STORE)
@click.option("--figure", type=PATH, help="Draw a figure: .svg, .pdf or .png.")
@json_option
def transfer_(folders: tuple[Where, ...], figure: Path | None, as_json: bool) -> None:
    """Show how training on one task changes performance in other tasks."""
    with open_frame(folders) as frame:
        cells = transfer(read_trained_seats(frame))
    say_bad(frame.bad)
    if figure is not None:
        write(transfer_figure(cells), figure)
    if as_json:
        print_json([msgspec.to_builtins(cell) for cell in cells])
        return
    for of, title in TITLES.items():
        say(cells, of, title)
    say_seeds(cells)
    if any(cell.trained_on == UNTRAINED for cell in cells):
        echo("change: from the untrained player, paired by setting")
    if figure is not None:
        echo(f"Figure: {figure}")


def say(cells: Sequence[TransferCell], of: str, title: str) -> None:
    """Print the scores for doing (gains) or knowing (predictions of others) after each training,
    with the change due to training."""
    rows, columns, _ = grid(cells, of)
    cells_by_key = {(cell.trained_on, cell.tested_on): cell for cell in cells}
    echo(title)
    for name in [row for row in rows if row != UNTRAINED] or rows:
        keys = ["tested on", name]
        if UNTRAINED in rows and name != UNTRAINED:
            keys = ["tested on", UNTRAINED, name, "change"]
        lines = []
        for column in columns:
            trained, untrained = (
                cells_by_key.get((name, column)),
                cells_by_key.get((UNTRAINED, column)),
            )
            lines.append(
                {
                    "tested on": column,
                    UNTRAINED: _estimate_text(getattr(untrained, of, None)),
                    name: _estimate_text(getattr(trained, of, None)),
                    "change": _change_text(getattr(trained, f"{of}_change", None)),
                }
            )
        print_table(lines, keys)
    estimates = ((key, getattr(cell, of)) for key, cell in cells_by_key.items())
    labelled = ((" on ".join(key), e) for key, e in estimates if e is not None)
    print_text(*blank_intervals(labelled))


def say_seeds(cells: Sequence[TransferCell]) -> None:
    """Print the scores for doing (gains) and knowing (predictions of others) by training seed, for
    training tasks that were repeated with several seeds."""
    seeded_cells = [cell for cell in cells if len(cell.by_seed) > 1]
    for row in dict.fromkeys(cell.trained_on for cell in seeded_cells):
        for place, of in enumerate(TITLES):
            lines = []
            for cell in seeded_cells:
                if cell.trained_on != row:
                    continue
                line = {"tested on": cell.tested_on}
                for seed, scores in cell.by_seed.items():
                    line[f"seed {seed}"] = "-" if scores[place] is None else f"{scores[place]:.2f}"
                lines.append(line | {"all": _estimate_text(cell.over_seeds()[place])})
            echo(f"{of} by training seed: {row}")
            print_table(lines, list(dict.fromkeys(key for line in lines for key in line)))


def _estimate_text(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "-"
    return estimate_cell(estimate.value, estimate.interval, 2)


def _change_text(change: Estimate | None) -> str:
    if change is None or change.value is None:
        return "-"
    value, interval = change.value, change.interval
    if interval is None:
        return f"{value:+.2f}"
    return f"{value:+.2f} [{interval[0]:+.2f}, {interval[1]:+.2f}]"
