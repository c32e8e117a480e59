"""`sally import`: games recorded elsewhere become episodes of a store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sally import store
from sally.adapters.importers import clembench as clembench_logs
from sally.adapters.importers import inspect_logs
from sally.adapters.importers import table as tables
from sally.adapters.importers import textarena as textarena_records
from sally.adapters.importers.table_layout import layout_of, pairs
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.match.playback import as_stored
from sally.core.registry import registry
from sally.core.registry.paper import Imported, Importer
from sally.output.tables.console import json_option, print_json
from sally.store import Manifest, Writer, claim

out_option = click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The store to fill."
)


class Importers(click.Group):
    """A command for every importer on the shelf, beside those defined here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *registry.importers()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        found = super().get_command(ctx, name)
        if found is not None or name.startswith("-"):
            return found
        known = {**registry.importers(), **dict.fromkeys(super().list_commands(ctx))}
        if name not in registry.entries("papers"):
            registry.pick("importer", name, known)
        return _command(registry.importer(name))


@click.group("import", cls=Importers)
def import_() -> None:
    """Import games recorded elsewhere; each source has a command.

    `sally list importers` shows the sources.
    """


def _command(importer: Importer) -> click.Command:
    @click.command(importer.name, help=f"{importer.about[0].upper()}{importer.about[1:]}.")
    @click.argument("path", type=click.Path(path_type=Path))
    @out_option
    @json_option
    def command(path: Path, out: Path, as_json: bool) -> None:
        _store(importer.imported(path), out, importer.name, as_json)

    return command


@import_.command("table")
@click.argument("file", type=click.Path(path_type=Path))
@out_option
@click.option("--game", default="", help="rps, ibs or ipd.")
@click.option(
    "--matrix", type=click.Path(path_type=Path), help="A JSON or TOML file with `matrix`."
)
@click.option("--infer", is_flag=True, help="Read the matrix off the payoff columns.")
@click.option("--names", default="", help="The moves in order, such as J,F.")
@click.option("--rounds", type=int, help="The length of the game [the longest episode's].")
@click.option(
    "--as-played",
    is_flag=True,
    help="Each episode's length is the number of rounds that were played.",
)
@click.option("--stop-chance", type=float, help="The chance that ended the game after each round.")
@click.option("--column", "columns", multiple=True, metavar="OURS=THEIRS", help="A column's name.")
@click.option(
    "--long",
    default="",
    metavar="player=COLUMN",
    help="Each row holds one player's move, not both.",
)
@click.option("--partner", "partners", multiple=True, metavar="NAME=PARTNER[,param=value]",
              help="A player of the table that is one of Sally's bots.")  # fmt: skip
@click.option("--rt", type=click.Choice(["s", "ms"]), help="The unit of response times [s].")
@click.option("--skip-bad", is_flag=True, help="Leave out whole episodes in which a row is wrong.")
@click.option("--allow-differences", is_flag=True,
              help="Import payoffs that contradict the matrix, and list them.")  # fmt: skip
@click.option("--source", default="", help="Where the table comes from [the file's name].")
@click.option("--licence", default="", help="The licence of the table.")
@json_option
def table(file: Path, out: Path, as_json: bool, **flags: Any) -> None:
    """Rounds of a repeated game from FILE: .csv, .csv.gz or .tsv, one row per round."""
    flags["columns"] = pairs(flags["columns"], "--column")
    flags["partners"] = pairs(flags["partners"], "--partner")
    flags["names"] = tuple(n.strip() for n in flags["names"].split(",") if n.strip())
    if flags["long"]:
        flags["long"] = pairs([flags["long"]], "--long").get("player", "")
        if not flags["long"]:
            raise BadInput("--long takes player=COLUMN, the column that says whose row it is.")
    matrix = flags.pop("matrix")
    about = "rounds of a repeated game"
    read = Importer("table", about, lambda at: tables.imported(at, layout_of(at, flags, matrix)))
    _store(read.imported(file), out, "table", as_json)


@import_.command("inspect")
@click.argument("path", type=click.Path(path_type=Path))
@out_option
@json_option
def inspect(path: Path, out: Path, as_json: bool) -> None:
    """Logs that Inspect wrote of Sally's tasks under PATH, a file or a folder."""
    read = Importer("inspect", "logs of Inspect", inspect_logs.imported)
    _store(read.imported(path), out, "inspect", as_json)


@import_.command("textarena")
@click.argument("file", type=click.Path(path_type=Path))
@out_option
@json_option
def textarena(file: Path, out: Path, as_json: bool) -> None:
    """Two-player matrix games of TextArena from FILE, one recorded game per line."""
    read = Importer("textarena", "games of TextArena", textarena_records.imported)
    _store(read.imported(file), out, "textarena", as_json)


@import_.command("clembench")
@click.argument("path", type=click.Path(path_type=Path))
@out_option
@click.option("--game", default="", help="rps, ibs or ipd.")
@click.option(
    "--matrix", type=click.Path(path_type=Path), help="A JSON or TOML file with `matrix`."
)
@click.option("--names", default="", help="The moves in order, such as J,F.")
@click.option("--rounds", type=int, help="The length of the game [the longest one's].")
@click.option("--only", default="", help="The game's name in the logs, if they hold several.")
@click.option("--reply", default="", metavar="PATTERN",
              help="A regular expression whose group is the move [a name alone].")  # fmt: skip
@click.option("--noted", default="", metavar="TYPE",
              help="The type of the note that says which move was counted.")  # fmt: skip
@click.option("--paid", default="", metavar="TYPE",
              help="The type of the note that holds both payoffs of a round.")  # fmt: skip
@click.option("--source", default="", help="Where the logs come from [clembench].")
@click.option("--licence", default="", help="The licence of the logs.")
@json_option
def clembench(path: Path, out: Path, as_json: bool, **flags: Any) -> None:
    """Two-player matrix games from logs of clembench under PATH, a file or a folder."""
    flags["names"] = tuple(n.strip() for n in flags["names"].split(",") if n.strip())
    if bool(flags["game"]) == bool(flags["matrix"]):
        raise BadInput("Say which game was played: --game rps, ibs or ipd, or --matrix FILE.")
    told = ("game", "names", "rounds", "source", "licence")
    layout = layout_of(path, {name: flags[name] for name in told}, flags["matrix"])
    how = clembench_logs.told_of(flags, layout)
    about = "matrix games in logs of clembench"
    read = Importer("clembench", about, lambda at: clembench_logs.imported(at, how))
    _store(read.imported(path), out, "clembench", as_json)


def _store(found: Imported, out: Path, name: str, as_json: bool) -> None:
    """Put what is new into the store, and say what was found."""
    claim(out, Manifest(f"import {name}", asks="published games"))
    there = store.load(out).episodes
    new = [episode for episode in found.episodes if not _already(episode, there, out)]
    with Writer(out) as writer:
        for episode in new:
            writer.add(episode)
    counts = {**found.counts, "stored": len(new), "already there": len(found.episodes) - len(new)}
    if as_json:
        print_json({"counts": counts, **found.details})
        return
    for what, count in counts.items():
        click.echo(f"{what}: {count}")
    for line in found.lines:
        click.echo(line)


def _already(episode: Episode, there: Mapping[str, Episode], out: Path) -> bool:
    """Whether a record is stored; another one under the same name is no record of ours."""
    stored = there.get(episode.id)
    if stored is not None and as_stored(stored.events) != as_stored(episode.events):
        raise BadInput(
            f"{out} holds another record of {episode.setup.instance.id} by the same players; "
            "import this one into another store, or under another --source."
        )
    return stored is not None
