"""`sally paper step_game`: figures of imported games."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from sally.analysis.episodes.stores import games_in
from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.output.tables.console import (
    WholeNumber,
    estimate_cell,
    json_option,
    print_json,
    print_table,
)
from sally.papers.step_game import figures
from sally.stats.intervals import Estimate

DOING = ("doing_win", "doing_steps")


@click.group("step_game")
def COMMANDS() -> None:
    """Published games of the step race (Mazur 2025)."""


@COMMANDS.command("figures")
@click.argument("where")
@click.option(
    "--least",
    default=5,
    type=WholeNumber(),
    show_default=True,
    help="Show models with at least this many games.",
)
@json_option
def show(where: str, least: int, as_json: bool) -> None:
    """Print figures of models and mindless players, findings and a rating from the store WHERE."""
    seats = figures.seat_games(games_in(where, "step_race"))
    if not seats:
        raise BadInput(
            f"{where} contains no imported step games; `sally import step_game` imports them."
        )
    rated, table, lines, results = tables_of(seats, least)
    if as_json:
        tables: dict[str, Any] = {"models": table, "mindless": lines, "findings": results}
        print_json(msgspec.to_builtins({**tables, "groups": rated.groups}))
        return
    print_table(_rows_as_text(table), list(table[0]) if table else [], "Models")
    print_table(_rows_as_text(lines), ["rule", *DOING], "Mindless players, same turns")
    print_table(_rows_as_text(results), ["figure", "value"], "All models")
    echo(f"{len(rated.ratings)} models in {len(rated.groups)} connected group(s).")


def tables_of(
    seats: list[figures.SeatGame], smallest: int
) -> tuple[figures.Rating, list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rating, and the rows of models, of mindless players and of findings."""
    rated = figures.rating(seats)
    by_model = {name: of for name, of in figures.models(seats).items() if len(of) >= smallest}
    table = [
        {
            "model": name,
            "n": len(of),
            "win share": figures.win_share(of),
            **{metric: figures.measure(of, metric) for metric in figures.SHOWN},
            "rating": rated.ratings[name],
        }
        for name, of in by_model.items()
    ]
    lines = [
        {
            "rule": name,
            **{m: figures.mindless(seats, rule, m) for m in DOING},
        }
        for name, rule in figures.rules().items()
    ]
    finding_rows = [
        {"figure": name, "value": value} for name, value in figures.findings(seats).items()
    ]
    return rated, table, lines, finding_rows


def _rows_as_text(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: _value_text(value) for key, value in row.items()} for row in rows]


def _value_text(value: Any) -> Any:
    return estimate_cell(value.value, value.interval, 3) if isinstance(value, Estimate) else value
