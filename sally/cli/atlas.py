"""`sally report --atlas`: people, models, learners and bots of several stores in one figure."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally.api.atlas import atlas
from sally.cli.common import STORE
from sally.core.terminal_text import echo
from sally.output.figures.atlas import describe_dot
from sally.output.tables.console import PATH, json_option, print_json
from sally.store import Where


@click.command("atlas")
@click.argument("folders", nargs=-1, required=True, metavar="STORE...", type=STORE)
@click.option("--out", type=PATH, help="Page to write [atlas.html], or an .svg file.")
@json_option
def atlas_(folders: tuple[Where, ...], out: Path | None, as_json: bool) -> None:
    """Draw how well people, models and bots did in each game, from records and studies.

    Each game, setting and measure has its own panel. Episodes of a paper are scored by the measure
    that the paper declares. All others are scored as in `sally profile`: by how much a player
    gained (doing) and, where it was asked, by how well it predicted the others (knowing).
    """
    rows = atlas(*folders)
    if as_json:
        print_json(msgspec.to_builtins([dot for dots in rows.by_column.values() for dot in dots]))
        return
    written = rows.write(out or Path("atlas.html"))
    for column, dots in rows.by_column.items():
        echo(f"{column.game}, {column.setting} ({column.measure})")
        for dot in dots:
            echo(f"  {describe_dot(dot)}")
    echo(f"Written: {written}")
