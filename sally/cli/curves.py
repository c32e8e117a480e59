"""`sally curves`: how games went, message by message."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally import store
from sally.cli.common import json_option, print_json, print_table
from sally.core import shelf
from sally.core.errors import BadInput
from sally.core.metric import Played
from sally.core.playback import replayed
from sally.papers.moore2025 import curves as moore2025_curves


@click.group()
def curves() -> None:
    """What had come about by each message or turn, over the games of a store."""


@curves.command()
@click.option(
    "--on", "folder", required=True, type=click.Path(path_type=Path), help="A store of episodes."
)
@json_option
def mindgames(folder: Path, as_json: bool) -> None:
    """Success, trap, disclosures and appeals by message; success also as moore2025 counts it."""
    spec = shelf.game("mindgames")
    episodes = store.load(folder, quarantine=False).episodes.values()
    ours = [e for e in episodes if e.setup.instance.game == spec.name]
    points = moore2025_curves.curves(Played(spec, e, replayed(spec, e)) for e in ours)
    if not points:
        raise BadInput(f"There is no finished game of mindgames in {folder}.")
    rows = [msgspec.to_builtins(point) for point in points]
    if as_json:
        print_json(rows)
        return
    short = {"success_published": "published", "likes_asked": "likes", "cells_asked": "cells",
             "asked_all": "all", "asked_all_literally": "literally"}  # fmt: skip
    for who in dict.fromkeys((row["persuader"], row["condition"]) for row in rows):
        mine = [row for row in rows if (row["persuader"], row["condition"]) == who]
        shown = [{short.get(k, k): v for k, v in row.items() if k not in HIDDEN} for row in mine]
        title = f"{who[0]}, {who[1]}, {mine[0]['games']} games"
        print_table(shown, list(shown[0]), title=title)


HIDDEN = ("persuader", "condition", "games", "success_interval")
