"""`sally crossplay`: mean payoffs of every pairing in two-player games."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally.analysis.columns.seat_table import seats_in
from sally.analysis.compare.crossplay import Pairing, sides, stored_crossplay
from sally.cli.comparing import unreadable
from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.output.figures.heat_maps import crossplay_figure
from sally.output.figures.panels import write
from sally.output.tables.console import (
    PATH,
    SCREEN,
    estimate_cell,
    json_option,
    print_json,
    print_page,
    print_text,
)
from sally.stats.intervals import Estimate, blank_intervals


@click.command("crossplay")
@click.argument("folder", metavar="DIR")
@click.option("--game", help="Only this game.")
@click.option("--page", default=1, show_default=True, help="Page of a long table.")
@click.option("--figure", type=PATH, help="Draw a figure: .svg, .pdf or .png.")
@json_option
def crossplay_(
    folder: str, game: str | None, page: int, figure: Path | None, as_json: bool
) -> None:
    """Print the mean payoff of every pairing in the two-player games of the store DIR."""
    seats = seats_in(folder, ["payoff"])
    for line in seats.bad:
        unreadable(line)
    tables = stored_crossplay(seats, game)
    if figure is not None:
        if len(tables) != 1:
            raise BadInput(
                f"A figure shows one game; choose one of {', '.join(tables)} with --game."
            )
        write(crossplay_figure(next(iter(tables.values()))), figure)
    if as_json:
        print_json(
            {name: [_plain(pair, met) for pair, met in t.items()] for name, t in tables.items()}
        )
        return
    for name, table in tables.items():
        say(name, table, page, 10**6 if game else max(8, SCREEN // len(tables)))
    if figure is not None:
        echo(f"Figure: {figure}")


def _plain(pair: tuple[str, str], met: Pairing) -> dict[str, object]:
    return {"first_player": pair[0], "second_player": pair[1], **msgspec.to_builtins(met)}


def say(game: str, table: dict[tuple[str, str], Pairing], page: int, most: int) -> None:
    """Print the mean payoffs of the first seat with 95% intervals; each row is a player of that
    seat."""
    first, second = sides(table)
    rows = [
        {"first seat": one} | {two: _cell(table.get((one, two))) for two in second} for one in first
    ]
    echo(f"{game}: mean payoff of the first seat against each second seat, 95% intervals")
    if not rows:
        echo("No episode has a result.")
        return
    shown = print_page(rows, ["first seat"], second, page, most=most)
    bare = [
        (f"{one} against {two}", Estimate(met.first, None, None, met.episodes, met.method))
        for (one, two), met in table.items()
        if met.first_interval is None
    ]
    print_text(*blank_intervals(bare))
    for line in shown.said("--game"):
        print_text(line.replace("--metric shows them", "--json has them"))


def _cell(met: Pairing | None) -> str:
    return "-" if met is None else estimate_cell(met.first, met.first_interval, 2)
