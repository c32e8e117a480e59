"""`sally import`: games recorded elsewhere become episodes of a store."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally import store
from sally.cli.common import json_option, print_json
from sally.papers.moore2025 import importer
from sally.store import Manifest, Writer, claim


@click.group("import")
def import_() -> None:
    """Take in games that were recorded elsewhere."""


@import_.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The store to fill.")
@json_option
def mindgames(path: Path, out: Path, as_json: bool) -> None:
    """Published games of moore2025 under PATH, a file or a folder in the published layout."""
    found = importer.imported(path)
    claim(out, Manifest("import mindgames", asks="published games"))
    there = set(store.load(out).episodes)
    new = [episode for episode in found.episodes if episode.id not in there]
    with Writer(out) as writer:
        for episode in new:
            writer.add(episode)
    counts = {**found.counts, "stored": len(new), "already there": len(found.episodes) - len(new)}
    if as_json:
        odd, differs = (msgspec.to_builtins(part) for part in (found.oddities, found.differences))
        print_json({"counts": counts, "oddities": odd, "differences": differs})
        return
    for line in importer.lines_of(found):
        click.echo(line)
    for name, count in counts.items():
        click.echo(f"{name}: {count}")
