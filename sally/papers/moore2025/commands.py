"""`sally paper moore2025`: agreement of readers with the record, curves by message, excluded
games."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from sally.analysis.episodes.stores import games_in
from sally.core.errors import BadInput
from sally.core.prompt.model import Settings
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.core.terminal_text import echo
from sally.games.mindgames import metrics
from sally.output.tables.console import (
    WholeNumber,
    json_option,
    print_json,
    print_rows,
    print_table,
)
from sally.output.tables.reproduce import Conditions, Known
from sally.papers.moore2025.agreement import (
    FOLDS,
    HALVES,
    Agreement,
    GameReader,
    agreement,
    by_model,
    by_rules,
    fold_of,
    half_of,
    hash_of,
    read_at_once,
)
from sally.papers.moore2025.figures import estimate_mean
from sally.papers.moore2025.published_layout import PublishedGame, read
from sally.papers.moore2025.released_games import exclusion_reason as left_out
from sally.papers.moore2025.released_games import participant
from sally.papers.moore2025.tables import facts
from sally.runner.config import use_config

HIDDEN = ("persuader", "condition", "games", "success_interval")


def points_by_message(games: Iterable[Played]) -> list[dict[str, Any]]:
    """Return a row for each message of each persuader and condition; finished games only."""
    groups: dict[tuple[str, str], list[tuple[Conditions, Played]]] = {}
    for played in games:
        conditions = facts(played)
        if conditions is not None and metrics.is_finished(played):
            plain = conditions["variant"] == "default"
            condition = str(conditions["condition"] if plain else conditions["variant"])
            groups.setdefault((str(conditions["persuader"]), condition), []).append(
                (conditions, played)
            )
    return [
        _point(*persuader_and_condition, message, group)
        for persuader_and_condition, group in sorted(groups.items())
        for message in range(min(len(metrics.choices(p)) for _, p in group))
    ]


def _point(persuader: str, condition: str, message: int, group: Known) -> dict[str, Any]:
    """Return the results after one message, over all games of a persuader in a condition."""
    games = [played for _, played in group]
    success = estimate_mean(group, lambda played: bool(metrics.would_win(played)[message]))
    new = [metrics.new_appeals(p, inferential=True)[message] for p in games]
    return {
        "persuader": persuader,
        "condition": condition,  # or the variant of hidden
        "message": message + 1,
        "games": len(games),
        "success": success.value,
        "success_interval": success.interval,
        # ties settled by the choice at the end of the game
        "success_published": fmean(metrics.won_with_look_ahead(p)[message] for p in games),
        "trap": fmean(metrics.sunk(p)[message] for p in games),
        "told": fmean(metrics.disclosures(p)[message] for p in games),
        # here for the first time
        "likes_asked": fmean(len(message_appeals.likes) for message_appeals in new),
        "cells_asked": fmean(len(message_appeals.cells) for message_appeals in new),
        "asked_all": fmean(metrics.asked_all(p, True)[message] for p in games),  # by this message
        "asked_all_literally": fmean(metrics.asked_all(p, False)[message] for p in games),
    }


_store = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.group("moore2025")
def COMMANDS() -> None:
    """MindGames: accuracy of message readers, and results by message."""


@COMMANDS.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--half",
    type=click.Choice(HALVES),
    help="Read only the half on which the rules were tuned, or only the other half.",
)
@click.option("--model", help="Model that reads instead of the rules: embedded, an alias.")
@click.option(
    "--limit",
    type=WholeNumber(),
    help="At most this many games of people and of models each.",
)
@click.option(
    "--at-once",
    type=WholeNumber(most=1_000),
    default=1,
    help="Number of games that a model reads concurrently.",
)
@click.option("--temperature", type=float, help="Sampling temperature; by default the provider's.")
@click.option("--charity", is_flag=True, help="Let the rules see the true table, as in play.")
@json_option
def readers(
    path: Path,
    half: str | None,
    model: str | None,
    limit: int | None,
    at_once: int,
    temperature: float | None,
    charity: bool,
    as_json: bool,
) -> None:
    """Print a reader's agreement with recorded labels: precision, recall, F1 and final choices.

    `folds` shows the lowest and the highest F1 of five folds of complete games; all games of a
    person are in the same fold.
    """
    if charity and model is not None:
        raise click.UsageError(
            "--charity applies only to the rule-based reader; a reading model never sees the true "
            "table of effects."
        )
    games = read(path).games
    if half is not None:
        games = tuple(game for game in games if half_of(game) == half)
    reader: GameReader = partial(by_rules, charity=charity)
    if model is not None:
        model = use_config(None).model_name(model)
        reader = by_model(registry.model(model), Settings(temperature=temperature))
    parts = _limit_games(_parts(games), limit)
    if model is not None:
        all_games = tuple({id(g): g for part in parts.values() for g in part}.values())
        readings = read_at_once(all_games, reader, at_once)
        reader = lambda game: readings[id(game)]  # noqa: E731
    rows = [row for name, part in parts.items() for row in _rows(name, part, reader)]
    half_text = f", {half} half" if half else ""
    print_rows(rows, as_json, f"{model or 'rules'} against recorded labels{half_text}")


def _parts(games: tuple[PublishedGame, ...]) -> dict[str, tuple[PublishedGame, ...]]:
    """Return the free-text games by group: all games, those of people, and those of models."""
    written = tuple(g for g in games if not g.condition.discrete_game)
    parts = {
        "all": written,
        "people": tuple(g for g in written if g.condition.human),
        "models": tuple(g for g in written if not g.condition.human),
    }
    filled_parts = {name: part for name, part in parts.items() if part}
    if not filled_parts:
        raise BadInput("There are no games in free text at this path.")
    return filled_parts


def _limit_games(
    parts: dict[str, tuple[PublishedGame, ...]], limit: int | None
) -> dict[str, tuple[PublishedGame, ...]]:
    """Return a fixed sample of whole games of people and of models, or all games."""
    if limit is None:
        return parts
    named_parts = {name: part for name, part in parts.items() if name != "all"}
    return {name: tuple(sorted(part, key=hash_of)[:limit]) for name, part in named_parts.items()}


def _rows(name: str, games: tuple[PublishedGame, ...], reader: GameReader) -> list[dict[str, Any]]:
    result: Agreement = agreement(games, reader)
    folds = [agreement([g for g in games if fold_of(g) == fold], reader) for fold in range(FOLDS)]
    rows: list[dict[str, Any]] = [
        {
            "games": name,
            "labels": kind,
            "n": tally.in_both + tally.record_only,
            "precision": tally.precision,
            "recall": tally.recall,
            "f1": tally.f1,
            "folds": _span([fold.tallies[kind].f1 for fold in folds]),
            "agreement": None,
        }
        for kind, tally in result.tallies.items()
    ]
    none = {"precision": None, "recall": None, "f1": None, "folds": None}
    back, choices = result.returns, result.choices
    taken_row = {"labels": "taken, not sent back", "agreement": None if back is None else 1 - back}
    return [
        *rows,
        {"games": name, **none, "n": result.messages, **taken_row},
        {"games": name, **none, "n": result.games, "labels": "final choice", "agreement": choices},
    ]


def _span(values: list[float | None]) -> str | None:
    """Return the lowest and the highest known value as text; None if no value is known."""
    known_values = [value for value in values if value is not None]
    return f"{min(known_values):.2f} to {max(known_values):.2f}" if known_values else None


@COMMANDS.command()
@_store
@json_option
def curves(folder: Path, as_json: bool) -> None:
    """Print, for each message, the share of games that would be won or lost to the trap at that
    point, and the numbers of disclosures and questions; success is also counted as in moore2025."""
    rows = points_by_message(games_in(folder, "mindgames", quarantine=False))
    if not rows:
        raise BadInput(f"There is no finished game of mindgames in {folder}.")
    if as_json:
        print_json(rows)
        return
    short = {"success_published": "published", "likes_asked": "likes", "cells_asked": "cells",
             "asked_all": "all", "asked_all_literally": "literally"}  # fmt: skip
    for group_key in dict.fromkeys((row["persuader"], row["condition"]) for row in rows):
        own_rows = [row for row in rows if (row["persuader"], row["condition"]) == group_key]
        rows_shown = [
            {short.get(k, k): v for k, v in row.items() if k not in HIDDEN} for row in own_rows
        ]
        title = f"{group_key[0]}, {group_key[1]}, {own_rows[0]['games']} games"
        print_table(rows_shown, list(rows_shown[0]), title=title)


@COMMANDS.command("excluded")
@_store
@json_option
def list_excluded(folder: Path, as_json: bool) -> None:
    """List the games of people that the paper's rules exclude, and why.

    A game is excluded if it has fewer than 10 characters per message or less than 5 seconds per
    turn, on average, or if it was not finished. Only games exported from a study with people have
    times.
    """
    games = games_in(folder, "mindgames", quarantine=False)
    people_games = [played for played in games if participant(played) is not None]
    excluded_games = [
        (played.episode.id, reason)
        for played in people_games
        if (reason := left_out(played)) is not None
    ]
    if as_json:
        print_json([{"episode": id, "why": reason} for id, reason in excluded_games])
        return
    echo(f"{len(excluded_games)} of {len(people_games)} games of people are left out.")
    for id, reason in excluded_games:
        echo(f"{id}: {reason}")
