"""`sally score --crossplay`: mean payoffs of every pairing in two-player games."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from sally.analysis.compare.crossplay import Pairing, sides
from sally.api.analyses import crossplay
from sally.cli.common import STORE, open_frame, say_bad
from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.output.figures.heat_maps import crossplay_figure
from sally.output.figures.panels import write
from sally.output.tables.console import (
    PATH,
    estimate_cell,
    fitting,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.stats.intervals import Estimate, blank_intervals
from sally.store import Where


@click.command("crossplay")
@click.argument("folder", metavar="DIR", type=STORE)
@click.option("--game", default="", help="Only this game.")
@click.option("--figure", type=PATH, help="Draw a figure: .svg, .pdf or .png.")
@json_option
def crossplay_(folder: Where, game: str, figure: Path | None, as_json: bool) -> None:
    """Print the mean payoff of every pairing in the two-player games of the store DIR."""
    with open_frame(folder) as frame:
        rows = crossplay(frame, game)
    say_bad(rows.bad)
    tables = rows.tables
    if figure is not None:
        if len(tables) != 1:
            raise BadInput(
                f"A figure shows one game; choose one of {', '.join(tables)} with --game."
            )
        write(crossplay_figure(next(iter(tables.values()))), figure)
    if as_json:
        print_json(
            {
                name: [_plain(pair, pairing) for pair, pairing in t.items()]
                for name, t in tables.items()
            }
        )
        return
    for name, table in tables.items():
        say(name, table)
    if figure is not None:
        echo(f"Figure: {figure}")


def _plain(pair: tuple[str, str], pairing: Pairing) -> dict[str, object]:
    return {"first_player": pair[0], "second_player": pair[1], **msgspec.to_builtins(pairing)}


def say(game: str, table: Mapping[tuple[str, str], Pairing]) -> None:
    """Print the mean payoffs of the first seat with 95% intervals; each row is a player of that
    seat."""
    first, second = sides(table)
    rows = [
        {"first seat": first_player}
        | {
            second_player: _cell(table.get((first_player, second_player)))
            for second_player in second
        }
        for first_player in first
    ]
    echo(f"{game}: mean payoff of the first seat against each second seat, 95% intervals")
    if not rows:
        echo("No episode has a result.")
        return
    for group in fitting(rows, ["first seat"], second):
        print_table(rows, ["first seat", *group])
    bare = [
        (
            f"{first_player} against {second_player}",
            Estimate(pairing.first, None, None, pairing.episodes, pairing.method),
        )
        for (first_player, second_player), pairing in table.items()
        if pairing.first_interval is None
    ]
    print_text(*blank_intervals(bare))


def _cell(pairing: Pairing | None) -> str:
    return "-" if pairing is None else estimate_cell(pairing.first, pairing.first_interval, 2)
