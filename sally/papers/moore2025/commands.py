"""`sally moore2025`: how well messages are read, and how games went message by message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from sally import store
from sally.core.errors import BadInput
from sally.core.match.playback import replayed
from sally.core.prompt.model import Settings
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.output.tables.console import json_option, print_json, print_table
from sally.papers.moore2025.agreement import (
    HALVES,
    Agreement,
    GameReader,
    agreement,
    by_rules,
    half_of,
)
from sally.papers.moore2025.curves import curves as curves_of
from sally.papers.moore2025.exclusion import excluded as left_out
from sally.papers.moore2025.exclusion import participant
from sally.papers.moore2025.published_layout import BadLayout, PublishedGame, read
from sally.papers.moore2025.rereading import by_model


@click.group("moore2025")
def COMMANDS() -> None:
    """MindGames: readers of free text, and games message by message."""


@COMMANDS.command()
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
@click.option("--model", help="A model that reads instead of the rules, such as embedded.")
@json_option
def readers(path: Path, half: str | None, model: str | None, as_json: bool) -> None:
    """How well a reader of messages does: precision, recall, F1, and final choices."""
    if not path.exists():
        raise BadInput(f"There is nothing at {path}.")
    try:
        games = read(path).games
    except BadLayout as why:
        raise BadInput(str(why)) from None
    if half is not None:
        games = tuple(game for game in games if half_of(game) == half)
    reader = by_rules if model is None else by_model(registry.model(model), Settings())
    rows = [row for name, part in _parts(games).items() for row in _rows(name, part, reader)]
    if as_json:
        print_json(rows)
        return
    which = f", {half} half" if half else ""
    print_table(rows, list(rows[0]), title=f"{model or 'rules'} against recorded labels{which}")


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


def _rows(name: str, games: tuple[PublishedGame, ...], reader: GameReader) -> list[dict[str, Any]]:
    found: Agreement = agreement(games, reader)
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
    none = {"precision": None, "recall": None, "f1": None}
    back, choices = found.returns, found.choices
    kept = {"labels": "taken, not sent back", "agreement": None if back is None else 1 - back}
    return [
        *rows,
        {"games": name, **none, "n": found.messages, **kept},
        {"games": name, **none, "n": found.games, "labels": "final choice", "agreement": choices},
    ]


@COMMANDS.command()
@click.option(
    "--on", "folder", required=True, type=click.Path(path_type=Path), help="A store of episodes."
)
@json_option
def curves(folder: Path, as_json: bool) -> None:
    """Success, trap, disclosures and appeals by message; success also as moore2025 counts it."""
    spec = registry.game("mindgames")
    episodes = store.load(folder, quarantine=False).episodes.values()
    ours = [e for e in episodes if e.setup.instance.game == spec.name]
    points = curves_of(Played(spec, e, replayed(spec, e)) for e in ours)
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


@COMMANDS.command()
@click.option(
    "--on", "folder", required=True, type=click.Path(path_type=Path), help="A store of episodes."
)
@json_option
def excluded(folder: Path, as_json: bool) -> None:
    """People's games that the paper's rules leave out of its tables, and why.

    Fewer than 10 characters a message or 5 seconds a turn, on average, or not finished. Times are
    known only for games exported from a study with people; for others only the messages count.
    """
    spec = registry.game("mindgames")
    episodes = store.load(folder, quarantine=False).episodes.values()
    ours = [
        Played(spec, e, replayed(spec, e)) for e in episodes if e.setup.instance.game == spec.name
    ]
    theirs = [played for played in ours if participant(played) is not None]
    found = [(played.episode.id, why) for played in theirs if (why := left_out(played)) is not None]
    if as_json:
        print_json([{"episode": id, "why": why} for id, why in found])
        return
    click.echo(f"{len(found)} of {len(theirs)} games of people are left out.")
    for id, why in found:
        click.echo(f"{id}: {why}")


HIDDEN = ("persuader", "condition", "games", "success_interval")
