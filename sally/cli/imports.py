"""`sally import`: import recorded games as episodes, and published batteries as items."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from sally.api.imports import INSPECT, importer_named, read_record
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportOption, ImportResult
from sally.output.tables.console import (
    PATH,
    WholeNumber,
    by_kind,
    json_option,
    print_json,
    print_text,
)

LINE = 57  # characters of a line in the list of importers, 80 columns with its name
SCHEMA = "-schema"  # after the name of an importer: the command that prints its JSON schema


class Importers(click.Group):
    """A command group with one command per importer, and one per schema of an importer."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        importers = {INSPECT.name: INSPECT, **registry.importers()}
        return sorted(
            [
                *importers,
                *(name + SCHEMA for name, importer in importers.items() if importer.schema),
            ]
        )

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name.startswith("-"):
            return None
        if name.endswith(SCHEMA):
            return _schema_command(registry.importer(name.removesuffix(SCHEMA)))
        return _import_command(importer_named(name))


@click.group("import", cls=Importers)
def import_() -> None:
    """Import recorded games, each source with its own command.

    `sally list importers` lists the sources.
    """


def _import_command(importer: Importer) -> click.Command:
    about = f"{importer.about[0].upper()}{importer.about[1:]}."
    line = textwrap.shorten(about, LINE, placeholder="...")  # click would stop at "et al."

    @click.command(importer.name, help=about, short_help=line)
    @click.argument("path", type=PATH)
    @json_option
    def command(path: Path, out: Path, as_json: bool, whole: bool = False, **given: Any) -> None:
        imported = read_record(importer.name, path, out, **given)
        if importer.writes_file:
            _print_written(imported, as_json)
        else:
            _say_stored(imported, as_json, whole)
            if next(iter(imported.episodes), None) is None:
                raise BadInput(f"{path} holds no game that the importer {importer.name} can read.")

    target = "File to write." if importer.writes_file else "Store to write to."
    command.params.append(click.Option(["--out"], required=True, type=PATH, help=target))
    if not importer.writes_file:
        everything = "List every irregularity and difference instead of one line per kind."
        command.params.append(click.Option(["--all", "whole"], is_flag=True, help=everything))
    command.params += map(_click_option, importer.options)
    return command


def _click_option(option: ImportOption) -> click.Option:
    kinds: Mapping[type, dict[str, Any]] = {
        bool: {"is_flag": True},
        int: {"type": WholeNumber()},
        str: {"default": ""},
        Path: {"type": PATH},
    }
    settings = kinds[option.kind]
    if option.choices:
        settings = {"type": click.Choice(option.choices), "default": option.choices[0]}
    return click.Option(
        ["--" + option.name.replace("_", "-")],
        help=option.about,
        show_default=bool(option.choices),
        **settings,
    )


def _schema_command(importer: Importer) -> click.Command:
    def command() -> None:
        if importer.schema is None:
            raise BadInput(f"The importer {importer.name} has no schema.")
        print_json(importer.schema())

    text = f"Print the JSON schema of the format that `sally import {importer.name}` reads."
    return click.Command(importer.name + SCHEMA, callback=command, help=text)


def _print_written(result: ImportResult, as_json: bool) -> None:
    """Print the counts of an importer that wrote a file."""
    if as_json:
        print_json({**result.counts, **result.details})
    else:
        print_text(*(f"{label}: {count}" for label, count in result.counts.items()), *result.lines)


def _say_stored(imported: ImportResult, as_json: bool, show_all: bool) -> None:
    """Print the counts and irregularities of imported episodes."""
    if as_json:
        print_json({"counts": imported.counts, **imported.details})
        return
    lines = imported.lines if show_all else by_kind(imported.lines)
    print_text(*_count_lines(imported.counts), *lines)
    if not show_all and by_kind(imported.lines) != list(imported.lines):
        print_text("--all lists every line; --json prints them as data.")


FIRST = ("found", "stored", "already there")


def _count_lines(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield the main counts of an import, one per line, then the other counts in one line."""
    for label in FIRST:
        if label in counts:
            yield f"{label}: {counts[label]:,}"
    if others := [f"{label} {n:,}" for label, n in counts.items() if label not in FIRST]:
        yield f"of these: {'; '.join(others)}"
