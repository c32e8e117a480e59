"""`sally crossplay`: who scores what against whom, in games for two."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally.analysis.crossplay import Pairing, crossplay, draw, names_of
from sally.cli.comparing import episodes_of
from sally.core.errors import BadInput
from sally.core.log import Episode
from sally.output.console import estimate_cell, fitting, json_option, print_json, print_table


@click.command("crossplay")
@click.argument("folder", metavar="DIR")
@click.option("--game", help="Only this game.")
@click.option("--figure", type=click.Path(path_type=Path), help="A picture: .svg, .pdf or .png.")
@json_option
def crossplay_(folder: str, game: str | None, figure: Path | None, as_json: bool) -> None:
    """Mean payoffs of everybody against everybody in the two-seat games of the store DIR."""
    games: dict[str, list[Episode]] = {}
    for episode in episodes_of(folder):
        if game in (None, episode.setup.instance.game) and len(episode.setup.lineup) >= 2:
            games.setdefault(episode.setup.instance.game, []).append(episode)
    tables = {name: crossplay(found) for name, found in games.items()}
    if figure is not None:
        if len(tables) != 1:
            raise BadInput(f"A picture shows one game; name one of {', '.join(tables)} by --game.")
        draw(next(iter(tables.values())), figure)
    if as_json:
        print_json(
            {name: [_plain(pair, met) for pair, met in t.items()] for name, t in tables.items()}
        )
        return
    for name, table in tables.items():
        _print(name, table)
    if figure is not None:
        click.echo(f"Picture: {figure}")


def _plain(pair: tuple[str, str], met: Pairing) -> dict[str, object]:
    return {"first_player": pair[0], "second_player": pair[1], **msgspec.to_builtins(met)}


def _print(game: str, table: dict[tuple[str, str], Pairing]) -> None:
    """The first seat's mean with its 95% interval; rows sit first, columns second."""
    names = names_of(table)
    rows = [
        {"first seat": one}
        | {
            two: _cell(table.get((one, two)))
            for two in names
            if any((n, two) in table for n in names)
        }
        for one in names
        if any((one, n) in table for n in names)
    ]
    columns = [two for two in names if two in rows[0]]
    click.echo(f"{game}: mean payoff of the first seat against each second seat, 95% intervals")
    for part in fitting(rows, ["first seat"], columns):
        print_table(rows, ["first seat", *part])


def _cell(met: Pairing | None) -> str:
    return "-" if met is None else estimate_cell(met.first, met.first_interval, 2)
