"""`sally import`: games recorded elsewhere become episodes of a store."""

from __future__ import annotations

from pathlib import Path

import click

from sally import store
from sally.core import shelf
from sally.output.console import json_option, print_json
from sally.store import Manifest, Writer, claim


@click.command("import")
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The store to fill.")
@json_option
def import_(name: str, path: Path, out: Path, as_json: bool) -> None:
    """Take in games that were recorded elsewhere: NAME says by whom, PATH is a file or a folder.

    `sally list importers` shows the names.
    """
    importer = shelf.importer(name)
    found = importer.read(path)
    claim(out, Manifest(f"import {importer.name}", asks="published games"))
    there = set(store.load(out).episodes)
    new = [episode for episode in found.episodes if episode.id not in there]
    with Writer(out) as writer:
        for episode in new:
            writer.add(episode)
    counts = {**found.counts, "stored": len(new), "already there": len(found.episodes) - len(new)}
    if as_json:
        print_json({"counts": counts, **found.details})
        return
    for line in found.lines:
        click.echo(line)
    for what, count in counts.items():
        click.echo(f"{what}: {count}")
