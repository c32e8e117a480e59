"""`sally reproduce` and `sally audit`: published figures beside ours; what mindlessness scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from sally.cli.common import estimate_cell, json_option, print_json, print_table
from sally.reports.reproduce import Effort, Row
from sally.reports.reproduce import reproduce as reproduced


@click.command()
@click.argument("paper", metavar="PAPER[:TABLE]")
@click.option(
    "--episodes",
    type=click.Path(path_type=Path),
    help="A store whose episodes are measured for rows that need play.",
)
@click.option("--model", help="The model whose episodes stand for the published models.")
@click.option("--repeats", default=2000, show_default=True, help="Episodes a computed cell.")
@click.option("--seed", default=1, show_default=True)
@json_option
def reproduce(
    paper: str,
    episodes: Path | None,
    model: str | None,
    repeats: int,
    seed: int,
    as_json: bool,
) -> None:
    """The tables of PAPER, published and ours side by side."""
    rows = reproduced(paper, episodes=episodes, model=model, effort=Effort(repeats, seed))
    if as_json:
        print_json(msgspec.to_builtins(rows))
        return
    tables = list(dict.fromkeys(row.table for row in rows))
    for name in tables:
        shown = [_plain(row) for row in rows if row.table == name]
        print_table(shown, list(shown[0]), title=f"{paper.partition(':')[0]}, table {name}")
    click.echo(verdict(rows))


def _plain(row: Row) -> dict[str, Any]:
    return {
        "row": " ".join(str(value) for value in row.row.values()),
        "metric": row.metric,
        "published": _with_interval(row.published, row.published_interval),
        "ours": _with_interval(row.ours, row.ours_interval),
        "agrees": row.agrees,
    }


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    return "missing" if value is None else estimate_cell(value, interval)


def verdict(rows: list[Row]) -> str:
    """One sentence: how many figures were had, and how many agree."""
    ours = [row for row in rows if row.ours is not None]
    agree = sum(row.agrees is True for row in ours)
    missing = len(rows) - len(ours)
    rest = f"; {missing} need episodes that are not there" if missing else ""
    return f"{agree} of {len(ours)} figures agree (95% intervals overlap){rest}."
