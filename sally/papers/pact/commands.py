"""`sally paper pact`: findings from a folder of published logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from sally.core.terminal_text import echo
from sally.output.tables.console import WholeNumber, json_option, print_json
from sally.papers.pact.findings import (
    HABITS,
    MEASURES,
    SeatGame,
    estimate,
    mindless,
    ratings,
    seat_games,
    share,
)
from sally.papers.pact.reader import files_under, read_record
from sally.stats.intervals import Estimate


@click.group("pact")
def COMMANDS() -> None:
    """PACT: recorded bargaining between models."""


@COMMANDS.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--least", default=1, type=WholeNumber(), help="Rate models with at least this many seat-games."
)
@json_option
def findings(path: Path, least: int, as_json: bool) -> None:
    """Print the main findings from the logs under PATH, each with its 95% interval."""
    figures = findings_of(seat_games(map(read_record, files_under(path))), least)
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        echo(f"{name}: {_value_text(value)}")


def findings_of(games: list[SeatGame], fewest_games: int = 1) -> dict[str, Any]:
    """Return the main findings by name; models with fewer than `fewest_games` seat-games are not
    rated."""
    results: dict[str, Any] = {"seat-games": len(games)}
    for name, measured in MEASURES.items():
        results[name] = _plain(estimate(games, measured))
    for name, habit in HABITS.items():
        results[f"mindless: {name}"] = _plain(estimate(games, mindless(habit)))
    for kind in ("true", "none", "bluff"):
        kind_games = [game for game in games if game.first_claim == kind]
        results[f"share, first claim {kind}"] = _plain(estimate(kind_games, share))
    for seat in ("buyer", "seller"):
        kind_games = [game for game in games if game.seat == seat]
        results[f"share, {seat}"] = _plain(estimate(kind_games, share))
    for era in ("sequential", "simultaneous"):
        kind_games = [game for game in games if game.era == era]
        for name in ("surplus share", "irrational quotes", "announced = quoted"):
            results[f"{name}, {era}"] = _plain(estimate(kind_games, MEASURES[name]))
        if kind_games:
            results[f"rating, {era}"] = _rating_summary(kind_games, fewest_games)
    return results


def _rating_summary(games: list[SeatGame], fewest_games: int) -> dict[str, Any]:
    fitted = ratings(games, fewest_games)
    return {
        "components": fitted.components,
        "role": round(fitted.buyer, 3),
        "models": [msgspec.to_builtins(model) for model in fitted.models],
    }


def _plain(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def _value_text(value: Any) -> str:
    if not isinstance(value, dict):
        return "nothing to count" if value is None else str(value)
    if "models" in value:
        models = ", ".join(
            f"{m['model']} {m['rating']:+.2f} [{m['low']:+.2f}, {m['high']:+.2f}] ({m['games']})"
            for m in value["models"]
        )
        return f"{value['components']} connected, buyer's seat {value['role']:+.3f}: {models}"
    if value["low"] is None:
        return f"{value['value']:.3f} (n {value['n']})"
    return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}] (n {value['n']})"
