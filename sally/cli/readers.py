"""`sally readers`: how far a reader of free text agrees with recorded labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sally.cli.common import json_option, print_json, print_table
from sally.core.errors import BadInput
from sally.papers.moore2025.agreement import (
    HALVES,
    Agreement,
    agreement,
    by_rules,
    half_of,
)
from sally.papers.moore2025.published_layout import BadLayout, PublishedGame, read


@click.group()
def readers() -> None:
    """Compare readers of free text with recorded labels."""


@readers.command()
@click.option(
    "--on",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    help="Published games, a file or a folder.",
)
@click.option(
    "--half",
    type=click.Choice(HALVES),
    help="Only the games that rules may be tuned on, or only the others; by a fixed hash.",
)
@json_option
def mindgames(path: Path, half: str | None, as_json: bool) -> None:
    """The rules reader of mindgames: precision, recall, F1 and final choices, people and models."""
    if not path.exists():
        raise BadInput(f"There is nothing at {path}.")
    try:
        games = read(path).games
    except BadLayout as why:
        raise BadInput(str(why)) from None
    if half is not None:
        games = tuple(game for game in games if half_of(game) == half)
    rows = [row for name, part in _parts(games).items() for row in _rows(name, part)]
    if as_json:
        print_json(rows)
        return
    which = f", {half} half" if half else ""
    print_table(rows, list(rows[0]), title=f"rules reader against recorded labels{which}")


def _parts(games: tuple[PublishedGame, ...]) -> dict[str, tuple[PublishedGame, ...]]:
    """All games, people's and models', without the discrete ones, which are not read but parsed."""
    written = tuple(g for g in games if not g.condition.discrete_game)
    parts = {
        "all": written,
        "people": tuple(g for g in written if g.condition.human),
        "models": tuple(g for g in written if not g.condition.human),
    }
    found = {name: part for name, part in parts.items() if part}
    if not found:
        raise BadInput("There are no games in free text there.")
    return found


def _rows(name: str, games: tuple[PublishedGame, ...]) -> list[dict[str, Any]]:
    found: Agreement = agreement(games, by_rules)
    rows: list[dict[str, Any]] = [
        {
            "games": name,
            "labels": kind,
            "n": tally.both + tally.record_only,
            "precision": tally.precision,
            "recall": tally.recall,
            "f1": tally.f1,
            "agreement": None,
        }
        for kind, tally in found.tallies.items()
    ]
    choices = {"games": name, "labels": "final choice", "n": found.games}
    return [*rows, {**choices, "precision": None, "recall": None, "f1": None}
            | {"agreement": found.choices}]  # fmt: skip
