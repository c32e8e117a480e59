"""`sally list`: the catalog of games, players, studies and more."""

from __future__ import annotations

from typing import Any

import click

from sally.api.catalog import CATALOG
from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.output.tables.console import (
    fits,
    json_option,
    print_json,
    print_rows,
    print_table,
)


@click.command("list")
@click.argument("kind", metavar=f"[{'|'.join(CATALOG)}]", default="")
@click.option("--game", default="", help="Only entries for this game, with descriptions.")
@json_option
def list_(kind: str, game: str, as_json: bool) -> None:
    """List the available games, players, studies and more.

    Without a name, the lists themselves are counted. Long lists show names only; use --game for
    details.
    """
    if not kind and game:
        raise BadInput(f"--game needs the name of a list: `sally list metrics --game {game}`.")
    if not kind:
        print_rows([{"list": name, "entries": len(list(CATALOG[name]()))} for name in CATALOG],
                   as_json)  # fmt: skip
        return
    if kind not in CATALOG:
        raise unknown("list", kind, CATALOG)
    rows: list[dict[str, Any]] = list(CATALOG[kind]())
    if game:
        rows = of_game(kind, rows, game)
    if as_json:
        print_json(rows)
    elif not rows:
        echo(f"No {kind} are installed{f' for {game}' if game else ''}.")
    else:
        say(kind, rows, bool(game))


def of_game(kind: str, rows: list[dict[str, Any]], game: str) -> list[dict[str, Any]]:
    """Return the rows for one game or its family, without rows that fit every game.

    Raises:
        BadInput: The game is unknown, or this list does not depend on the game.
    """
    family = registry.family(game).name  # raises if the game is unknown
    if kind == "games":
        return [row for row in rows if registry.family(row["name"]).name == family]
    if "game" not in rows[0]:
        raise BadInput(f"`sally list {kind}` is the same for every game; remove --game.")
    return [row for row in rows if row["game"] in (game, family)]


def say(kind: str, rows: list[dict[str, Any]], show_all: bool) -> None:
    """Print all columns of a short list, else only names, by game or with descriptions."""
    columns = [name for name in rows[0] if not show_all or name != "game"]
    brief = not show_all and not fits(rows, columns)
    if brief and "game" in columns:
        rows, columns = by_game(kind, rows), ["game", kind]
    elif brief:
        columns = ["name", "about"]
    print_table(rows, columns)
    if brief:
        echo(f"`sally list {kind} --game NAME` shows more; --json shows everything.")


def by_game(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per game, with the names of its entries."""
    games: dict[str, list[str]] = {}
    for row in rows:
        games.setdefault(row["game"] or "any game", []).append(row["name"])
    return [{"game": game, kind: ", ".join(names)} for game, names in games.items()]
