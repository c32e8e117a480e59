"""`sally list`: what is on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from sally.core import shelf
from sally.core.errors import unknown
from sally.output.console import json_option, print_json, print_table


def _games() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "seats": ", ".join(spec.build().seats),
            "probes": ", ".join(p.name for p in spec.probes),
            "about": spec.about,
        }
        for name, spec in sorted(shelf.games().items())
    ]


def _partners() -> list[dict[str, Any]]:
    return [
        {"name": name, "game": family, "source": p.source, "about": p.about}
        for family in sorted({s.family or s.name for s in shelf.games().values()})
        for name, p in sorted(shelf.partners(family).items())
    ]


def _players() -> list[dict[str, Any]]:
    general = {k.name for players in shelf.shelf("players").values() for k in players.values()}
    found = {
        (k.name, "" if k.name in general else family): k.about
        for family in shelf.shelf("games")
        for k in shelf.players(family).values()
    }
    return [{"name": n, "game": game, "about": about} for (n, game), about in sorted(found.items())]


def _plain(folder: str) -> list[dict[str, Any]]:
    entries = sorted(shelf.shelf(folder).items())
    return [{"name": name, "about": getattr(entry, "about", "")} for name, entry in entries]


KINDS: Mapping[str, Callable[[], list[dict[str, Any]]]] = {
    "games": _games,
    "partners": _partners,
    "players": _players,
    "strategies": lambda: _plain("strategies"),
    "metrics": lambda: _plain("metrics"),
    "studies": lambda: _plain("studies"),
    "models": lambda: _plain("models"),
    "papers": lambda: _plain("papers"),
    "importers": lambda: [{"name": i.name, "about": i.about} for i in shelf.importers().values()],
}


@click.command("list")
@click.argument("kind", metavar="|".join(KINDS))
@json_option
def list_(kind: str, as_json: bool) -> None:
    """What is on the shelf."""
    if kind not in KINDS:
        raise unknown("shelf", kind, KINDS)
    rows = KINDS[kind]()
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, list(rows[0]))
    else:
        click.echo(f"No {kind} are installed.")
