"""`sally list`: what is on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.output.tables.console import fits, folded, json_option, print_json, print_page


def _games() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "seats": ", ".join(spec.build().seats),
            "probes": ", ".join(p.name for p in spec.probes),
            "about": spec.about,
        }
        for name, spec in sorted(registry.games().items())
    ]


def _partners() -> list[dict[str, Any]]:
    return [
        {"name": name, "game": family, "source": p.source, "about": p.about}
        for family in sorted({s.family or s.name for s in registry.games().values()})
        for name, p in sorted(registry.partners(family).items())
    ]


def _players() -> list[dict[str, Any]]:
    general = {k.name for players in registry.entries("players").values() for k in players.values()}
    found = {
        (k.name, "" if k.name in general else family): k.about
        for family in registry.entries("games")
        for k in registry.players(family).values()
    }
    return [{"name": n, "game": game, "about": about} for (n, game), about in sorted(found.items())]


def _metrics() -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for family in sorted(registry.entries("games")):
        for name, metric in registry.metrics(family).items():
            seen = name in found and found[name]["game"] != family
            about = {"game": "" if seen else family, "about": metric.about}
            found[name] = {"name": name, **about}
    return [found[name] for name in sorted(found)]


def _packs() -> list[dict[str, Any]]:
    from sally.core.prompt import packs

    return [
        {"name": name, "game": pack.game, "about": f"{len(pack.texts)} texts of its own"}
        for name, pack in packs.shipped().items()
    ]


def _plain(folder: str) -> list[dict[str, Any]]:
    entries = sorted(registry.entries(folder).items())
    return [{"name": name, "about": getattr(entry, "about", "")} for name, entry in entries]


KINDS: Mapping[str, Callable[[], list[dict[str, Any]]]] = {
    "games": _games,
    "partners": _partners,
    "players": _players,
    "strategies": lambda: _plain("strategies"),
    "metrics": _metrics,
    "studies": lambda: _plain("studies"),
    "models": lambda: _plain("models"),
    "papers": lambda: _plain("papers"),
    "packs": _packs,
    "importers": lambda: [
        {"name": i.name, "about": i.about} for i in registry.importers().values()
    ],
}


@click.command("list")
@click.argument("kind", metavar="|".join(KINDS))
@click.option("--game", default="", help="Only entries for this game, described in full.")
@click.option("--page", default=1, show_default=True, help="Which page of a long list.")
@json_option
def list_(kind: str, game: str, page: int, as_json: bool) -> None:
    """List what there is to choose from: games, players, studies and more.

    Long lists show names only; name a game to see more.
    """
    if kind not in KINDS:
        raise unknown("shelf", kind, KINDS)
    rows = of_game(kind, KINDS[kind](), game) if game else KINDS[kind]()
    if as_json:
        print_json(rows)
    elif not rows:
        click.echo(f"No {kind} are installed{f' for {game}' if game else ''}.")
    else:
        say(kind, rows, bool(game), page)


def of_game(kind: str, rows: list[dict[str, Any]], game: str) -> list[dict[str, Any]]:
    """The rows that are for one game or its family; what fits every game is left out."""
    family = registry.family(game).name  # refuses a game that is not there
    if kind == "games":
        return [row for row in rows if registry.family(row["name"]).name == family]
    if "game" not in rows[0]:
        raise BadInput(f"`sally list {kind}` is the same for every game; leave --game out.")
    return [row for row in rows if row["game"] in (game, family)]


def say(kind: str, rows: list[dict[str, Any]], whole: bool, page: int) -> None:
    """Everything where it fits a screen, else names by game, or names and what they are."""
    columns = [name for name in rows[0] if not whole or name != "game"]
    brief = not whole and not fits(rows, columns)
    if brief and "game" in columns:
        rows, columns = by_game(kind, rows), ["game", kind]
    elif brief:
        columns = ["name", "about"]
    shown = print_page(rows, columns[:1], columns[1:], page, whole=True)
    for line in shown.said("--game"):
        click.echo(folded(line))
    if brief:
        click.echo(f"`sally list {kind} --game NAME` says more; --json says all.")


def by_game(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The names of each game in one row."""
    games: dict[str, list[str]] = {}
    for row in rows:
        games.setdefault(row["game"] or "any game", []).append(row["name"])
    return [{"game": game, kind: ", ".join(found)} for game, found in games.items()]
