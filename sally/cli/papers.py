"""`sally reproduce` and `sally audit`: published figures beside ours; what mindlessness scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from sally.cli.common import (
    cell,
    estimate_cell,
    fitting,
    json_option,
    print_json,
    print_table,
    progress,
)
from sally.cli.reading import heading
from sally.reports.reproduce import Effort, Row
from sally.reports.reproduce import reproduce as reproduced
from sally.runner.audit import audit as audited
from sally.runner.audit import off_chance
from sally.studies import reference


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
    name = paper.partition(":")[0]
    for table in dict.fromkeys(row.table for row in rows):
        shown = [_plain(row) for row in rows if row.table == table]
        print_table(shown, list(shown[0]), title=f"{name}, table {table}")
        for figure in reference.table(reference.load(name), table).rows:
            if figure.flag:
                where = " ".join(map(str, figure.row.values()))
                click.echo(f"suspect: {where}, {figure.metric} {figure.value:g}: {figure.flag}")
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


@click.command()
@click.argument("game")
@click.option("--episodes", default=100, show_default=True, help="Episodes a condition and player.")
@click.option("--seed", default=1, show_default=True)
@json_option
def audit(game: str, episodes: int, seed: int, as_json: bool) -> None:
    """What players without a mind score in GAME, rules of thumb and their inverses alike."""
    with progress() as bar:
        task = bar.add_task(f"audit {game}", total=None, note="")

        def watch(done: int, wanted: int) -> None:
            bar.update(task, total=wanted, completed=done)

        rows = audited(game, episodes, seed, watch)
    if as_json:
        print_json(rows)
        return
    for condition in dict.fromkeys(row["condition"] for row in rows):
        _print_condition([row for row in rows if row["condition"] == condition], condition)
    away = off_chance(game, rows)
    for row in away:
        where = f"{row['condition']}, {row['player']}, {row['metric']}"
        click.echo(f"away from chance: {where}: {cell(row['value'])} {cell(row['interval'])}")
    if away:
        click.echo(f"{len(away)} of {len(rows)} rows; one in twenty is by chance alone.")


def _print_condition(rows: list[dict[str, Any]], condition: str) -> None:
    lines: dict[str, dict[str, Any]] = {}
    for row in rows:
        line = lines.setdefault(row["player"], {"player": row["player"], "n": row["episodes"]})
        line[heading(row["metric"])] = estimate_cell(row["value"], row["interval"])
    metrics = list(dict.fromkeys(heading(row["metric"]) for row in rows))
    for names in fitting(list(lines.values()), ["player", "n"], metrics):
        print_table(lines.values(), ("player", *names, "n"), title=condition)
