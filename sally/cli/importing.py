"""`sally import`: import recorded games as episodes, and published batteries as items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from sally import store
from sally.adapters.importers import beliefs as belief_rows
from sally.adapters.importers import bigtom as bigtom_items
from sally.adapters.importers import clembench as clembench_logs
from sally.adapters.importers import hitom as hitom_items
from sally.adapters.importers import inspect_logs, sally_table
from sally.adapters.importers import table as tables
from sally.adapters.importers import textarena as textarena_records
from sally.adapters.importers import tombench as tombench_items
from sally.adapters.importers.table_layout import layout_of, pairs, refuse_problems
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.match.playback import as_stored
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportResult
from sally.core.terminal_text import echo
from sally.games.battery.items import Item, by_pair, differs, encoded, hash_of, keep
from sally.games.battery.study_file import study_text
from sally.output.tables.console import PATH, by_kind, json_option, print_json, print_text
from sally.store import Manifest, Writer, claim

F = TypeVar("F", bound=Callable[..., Any])


def import_options(command: F) -> F:
    """Add the options that every importer has."""
    for option in (
        json_option,
        click.option(
            "--all",
            "whole",
            is_flag=True,
            help="List every irregularity and difference instead of one line per kind.",
        ),
        click.option("--out", required=True, type=PATH, help="Store to write to."),
    ):
        command = option(command)
    return command


items_option = click.option(
    "--out", required=True, type=PATH, help="File of items to write (.jsonl)."
)
study_option = click.option(
    "--study",
    type=PATH,
    help="Also write a study (.toml) that asks a model every story: `sally run FILE --model ...`.",
)


class Importers(click.Group):
    """A command group with every registered importer and those defined in this module."""

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
    """Import recorded games; each source has its own command.

    `sally list importers` lists the sources.
    """


def _command(importer: Importer) -> click.Command:
    @click.command(importer.name, help=f"{importer.about[0].upper()}{importer.about[1:]}.")
    @click.argument("path", type=PATH)
    @import_options
    def command(path: Path, out: Path, as_json: bool, whole: bool, **given: Any) -> None:
        _store(importer.imported(path, **given), out, importer.name, as_json, whole)

    for each in importer.options:
        flag = "--" + each.name.replace("_", "-")
        kind: dict[str, Any] = {"type": click.IntRange(1)} if each.number else {"is_flag": True}
        command.params.append(click.Option([flag], help=each.about, **kind))
    return command


@import_.command("table")
@click.argument("file", type=PATH)
@import_options
@click.option("--game", default="", help="The game: rps, ibs or ipd.")
@click.option("--matrix", type=PATH, help="JSON or TOML file with the payoff `matrix`.")
@click.option(
    "--moves",
    type=click.Choice(["simultaneous", "in turn"]),
    help="Whether both players chose before seeing the other's move in the round.",
)
@click.option("--infer", is_flag=True, help="Infer the matrix from the payoff columns.")
@click.option("--names", default="", help="Names of the moves in order, such as J,F.")
@click.option("--rounds", type=int, help="Number of rounds [that of the longest episode].")
@click.option(
    "--as-played",
    is_flag=True,
    help="Use the number of rounds played as the length of each episode.",
)
@click.option("--stop-chance", type=float, help="Probability that the game ends after each round.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Name of a column in the file; may be repeated.",
)
@click.option(
    "--long",
    default="",
    metavar="player=COLUMN",
    help="Each row holds one player's move; COLUMN names the player.",
)
@click.option("--partner", "partners", multiple=True, metavar="NAME=PARTNER[,param=value]",
              help="A player in the file that is a bot of Sally.")  # fmt: skip
@click.option("--rt", type=click.Choice(["s", "ms"]), help="Unit of response times [s].")
@click.option("--skip-bad", is_flag=True, help="Skip every episode that has an invalid row.")
@click.option("--allow-differences", is_flag=True,
              help="Import payoffs that contradict the matrix, and list them.")  # fmt: skip
@click.option("--source", default="", help="Source of the table [the file name].")
@click.option("--licence", default="", help="Licence of the table.")
def table(file: Path, out: Path, as_json: bool, whole: bool, **flags: Any) -> None:
    """Import rounds of a repeated game from FILE (.csv, .csv.gz or .tsv), one row per round."""
    flags["columns"] = pairs(flags["columns"], "--column")
    flags["partners"] = pairs(flags["partners"], "--partner")
    flags["names"] = tuple(n.strip() for n in flags["names"].split(",") if n.strip())
    if flags["long"]:
        flags["long"] = pairs([flags["long"]], "--long").get("player", "")
        if not flags["long"]:
            raise BadInput(
                "--long takes player=COLUMN, the column that names the player of each row."
            )
    matrix = flags.pop("matrix")
    about = "rounds of a repeated game"
    read = Importer("table", about, lambda at: tables.imported(at, layout_of(at, flags, matrix)))
    _store(read.imported(file), out, "table", as_json, whole)


@import_.command("table-schema")
def table_schema() -> None:
    """Print the JSON schema of `sally-table`, the format that `sally import table` reads."""
    print_json(sally_table.table_schema())


@import_.command("beliefs")
@click.argument("file", type=PATH)
@import_options
@click.option("--licence", default="", help="Licence of the data.")
def beliefs(file: Path, out: Path, as_json: bool, whole: bool, licence: str) -> None:
    """Import decisions with stated beliefs from FILE (.jsonl), one row per decision."""
    about = "decisions with stated beliefs"
    read = Importer("beliefs", about, lambda path: belief_rows.imported(path, licence))
    _store(read.imported(file), out, "beliefs", as_json, whole)


@import_.command("beliefs-schema")
def beliefs_schema() -> None:
    """Print the JSON schema of a row of the format that `sally import beliefs` reads."""
    print_json(belief_rows.beliefs_schema())


@import_.command("inspect")
@click.argument("path", type=PATH)
@import_options
def inspect(path: Path, out: Path, as_json: bool, whole: bool) -> None:
    """Import Inspect logs of Sally's tasks from PATH, a file or a folder."""
    read = Importer("inspect", "logs of Inspect", inspect_logs.imported)
    _store(read.imported(path), out, "inspect", as_json, whole)


@import_.command("textarena")
@click.argument("file", type=PATH)
@import_options
def textarena(file: Path, out: Path, as_json: bool, whole: bool) -> None:
    """Import two-player matrix games of TextArena from FILE, one recorded game per line."""
    read = Importer("textarena", "games of TextArena", textarena_records.imported)
    _store(read.imported(file), out, "textarena", as_json, whole)


@import_.command("clembench")
@click.argument("path", type=PATH)
@import_options
@click.option("--game", default="", help="The game: rps, ibs or ipd.")
@click.option("--matrix", type=PATH, help="JSON or TOML file with the payoff `matrix`.")
@click.option("--names", default="", help="Names of the moves in order, such as J,F.")
@click.option("--rounds", type=int, help="Number of rounds [that of the longest game].")
@click.option(
    "--only", default="", help="Name of the game in the logs, if they hold several games."
)
@click.option("--reply", default="", metavar="PATTERN",
              help="Regular expression whose group is the move [the name alone].")  # fmt: skip
@click.option("--noted", default="", metavar="TYPE",
              help="Type of the log entry with the move that was counted.")  # fmt: skip
@click.option("--paid", default="", metavar="TYPE",
              help="Type of the log entry with both payoffs of a round.")  # fmt: skip
@click.option("--source", default="", help="Source of the logs [clembench].")
@click.option("--licence", default="", help="Licence of the logs.")
def clembench(path: Path, out: Path, as_json: bool, whole: bool, **flags: Any) -> None:
    """Import two-player matrix games from clembench logs under PATH, a file or a folder."""
    flags["names"] = tuple(n.strip() for n in flags["names"].split(",") if n.strip())
    if bool(flags["game"]) == bool(flags["matrix"]):
        raise BadInput("Name the game that was played: --game rps, ibs or ipd, or --matrix FILE.")
    described = ("game", "names", "rounds", "source", "licence")
    told = {name: flags[name] for name in described} | {"moves": "simultaneous"}
    layout = layout_of(path, told, flags["matrix"])
    refuse_problems(layout)
    how = clembench_logs.options_of(flags, layout)
    about = "matrix games in logs of clembench"
    read = Importer("clembench", about, lambda at: clembench_logs.imported(at, how))
    _store(read.imported(path), out, "clembench", as_json, whole)


@import_.command("bigtom")
@click.argument("checkout", type=PATH)
@items_option
@study_option
@json_option
def bigtom(checkout: Path, out: Path, study: Path | None, as_json: bool) -> None:
    """Import BigToM from CHECKOUT (cicl-stanford/procedural-evals-tom) as items of `battery`."""
    _keep_items(bigtom_items.imported(checkout), out, study, as_json)


@import_.command("hitom")
@click.argument("checkout", type=PATH)
@items_option
@study_option
@json_option
def hitom(checkout: Path, out: Path, study: Path | None, as_json: bool) -> None:
    """Import Hi-ToM from CHECKOUT (ying-hui-he/Hi-ToM_dataset) with answers from its rules."""
    _keep_items(hitom_items.imported(checkout), out, study, as_json)


@import_.command("tombench")
@click.argument("checkout", type=PATH)
@items_option
@study_option
@click.option("--language", type=click.Choice(["en", "zh"]), default="en", show_default=True)
@json_option
def tombench(checkout: Path, out: Path, study: Path | None, language: Any, as_json: bool) -> None:
    """Import ToMBench from CHECKOUT (zhchen18/ToMBench) as items of `battery`."""
    _keep_items(tombench_items.imported(checkout, language), out, study, as_json)


def _keep_items(items: Sequence[Item], out: Path, study: Path | None, as_json: bool) -> None:
    """Write items to a file, keep a copy under their hash, and print counts."""
    data = encoded(items)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data)
    if study is not None:
        study.parent.mkdir(parents=True, exist_ok=True)
        study.write_text(study_text(items, out.stem, str(out), hash_of(data)))
    counts = {
        "items": len(items),
        "stories": len(by_pair(items)),
        "not scored": sum(not item.sound for item in items),
        "keys that differ from a published one": sum(map(differs, items)),
        "hash": keep(data),
    }
    if as_json:
        print_json({**counts, "file": str(out)})
        return
    for what, count in counts.items():
        echo(f"{what}: {count}")
    echo(f"Written: {out}. Audit it with `sally audit battery --items {out}`.")


def _store(found: ImportResult, out: Path, name: str, as_json: bool, whole: bool) -> None:
    """Store the new episodes and print counts and irregularities."""
    for episode in found.episodes:  # all or nothing: one that cannot be stored refuses them all
        store.check_storable(episode)
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
    print_text(*_counted(counts), *(found.lines if whole else by_kind(found.lines)))
    if not whole and by_kind(found.lines) != list(found.lines):
        print_text("--all lists every line; --json prints them as data.")


FIRST = ("found", "stored", "already there")


def _counted(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield the main counts of an import, one per line, then the other counts in one line."""
    for what in FIRST:
        if what in counts:
            yield f"{what}: {counts[what]:,}"
    if other := [f"{what} {n:,}" for what, n in counts.items() if what not in FIRST]:
        yield f"of these: {'; '.join(other)}"


def _already(episode: Episode, there: Mapping[str, Episode], out: Path) -> bool:
    """Return whether an episode is already stored.

    Raises:
        BadInput: The store holds a different episode under the same id.
    """
    stored = there.get(episode.id)
    if stored is not None and as_stored(stored.events) != as_stored(episode.events):
        raise BadInput(
            f"{out} already holds a different record of {episode.setup.instance.id} by the same "
            "players; import this one into another store, or with another --source."
        )
    return stored is not None
