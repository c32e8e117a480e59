"""`sally profile --reliability` and `sally profile --variance`: reliability and variance components
of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sally.analysis.design.reliability import Matrix, Reliability
from sally.api.analyses import reliability, variance
from sally.cli.common import STORE, open_frame, say_bad
from sally.cli.compare import plain
from sally.core.terminal_text import echo
from sally.output.figures.heat_maps import correlation_figure
from sally.output.figures.heat_maps import measure_name as measure
from sally.output.figures.panels import write
from sally.output.tables.console import (
    PATH,
    fitting,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.output.tables.reliability import (
    COMPONENTS,
    CORRELATIONS,
    correlation_rows,
    describe_reliability,
    reliability_rows,
    variance_rows,
    wording_losses,
)
from sally.store import Where


@click.command("reliability")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=STORE)
@click.option("--game", "games", multiple=True, help="Only this game; may be repeated.")
@click.option("--player", "players", multiple=True, help="Only this player; * matches anything.")
@click.option("--target", default=0.8, show_default=True, help="Reliability to plan for.")
@click.option(
    "--figure",
    type=PATH,
    help="Draw the correlation matrix: .svg, .pdf or .png.",
)
@json_option
def reliability_(
    folders: tuple[Where, ...],
    games: tuple[str, ...],
    players: tuple[str, ...],
    target: float,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Estimate how reliably the scores in DIR distinguish players, and how they correlate.

    Prints split-half and retest reliability of knowing and doing, the standard error of
    measurement, the episodes needed for the target reliability, and the correlations of all
    measures over players.
    """
    with open_frame(folders) as frame:
        rows = reliability(frame, games=games, players=players, target=target)
    say_bad(rows.bad)
    if figure is not None:
        write(correlation_figure(rows.matrix), figure)
    if as_json:
        print_json({"measures": plain(rows.measures), "matrix": _plain(rows.matrix)})
        return
    say(rows.measures, target)
    say_matrix(rows.matrix)
    if figure is not None:
        echo(f"Figure: {figure}")


def say(rows: list[Reliability], target: float) -> None:
    """Print one row per measure."""
    if not (lines := reliability_rows(rows, target)):
        echo("No episode has a result or a probe answer.")
        return
    print_table(lines, list(lines[0]))
    print_text(describe_reliability(target))
    for row in rows:
        if row.why:
            print_text(f"{row.game}, {row.trait} by {row.method}: {row.why}.")


def say_matrix(matrix: Matrix) -> None:
    """Print the mean correlations within and between traits and games."""
    if not (lines := correlation_rows(matrix)):
        return
    echo(f"\nCorrelations over the players that have both measures ({matrix.players} in all):")
    print_table(lines, list(lines[0]))
    print_text(f"{CORRELATIONS} `--figure FILE.svg` draws the whole matrix.")


def _plain(matrix: Matrix) -> dict[str, Any]:
    return {
        "measures": [measure(key) for key in matrix.measures],
        "reliabilities": list(matrix.reliabilities),
        "pairs": [
            {
                "first": measure(p.first),
                "second": measure(p.second),
                "kind": p.kind,
                **plain(p.correlation),
            }
            for p in matrix.pairs
        ],
        "means": {kind: plain(e) for kind, e in matrix.means.items()},
        "players": matrix.players,
    }


@click.command("variance")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=STORE)
@click.option("--game", "games", multiple=True, help="Only this game; may be repeated.")
@json_option
def variance_(folders: tuple[Where, ...], games: tuple[str, ...], as_json: bool) -> None:
    """Decompose the variance of the scores in DIR, and show the loss under new wordings."""
    with open_frame(folders) as frame:
        rows = variance(frame, games=games)
    say_bad(rows.bad)
    sources = rows.sources
    if as_json:
        print_json(plain(sources))
        return
    lines = variance_rows(sources)
    columns = [name for name in lines[0] if name not in ("game", "measure")] if lines else []
    for names in fitting(lines, ["game", "measure"], columns):
        print_table(lines, ["game", "measure", *names])
    print_text(COMPONENTS, *wording_losses(sources))
