"""`sally profile --reliability` and `sally profile --variance`: reliability and variance components
of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sally.analysis.design.reliability import DOING, Matrix, Reliability
from sally.analysis.design.variance import FACTORS
from sally.api.analyses import reliability, variance
from sally.cli.common import STORE, open_frame, say_bad
from sally.cli.compare import plain
from sally.core.terminal_text import echo
from sally.output.figures.heat_maps import correlation_figure
from sally.output.figures.heat_maps import measure_name as measure
from sally.output.figures.panels import write
from sally.output.tables.console import (
    PATH,
    cell,
    estimate_cell,
    fitting,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.stats.components import REST
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
    target_label = f"for {target:g}"
    lines = [
        {
            "game": row.game,
            "measure": "does" if row.trait == DOING else f"knows {row.method}",
            "players": row.players,
            "problems": row.problems,
            "split half": estimate_cell(row.consistency.value, row.consistency.interval, 2),
            "retest": estimate_cell(row.retest.value, row.retest.interval, 2),
            "error": cell(row.error),
            target_label: "-" if row.episodes is None else f"{row.episodes:,}",
        }
        for row in rows
    ]
    if not lines:
        echo("No episode has a result or a probe answer.")
        return
    print_table(lines, list(lines[0]))
    print_text(
        "split half: how reliably a player's mean over these instances distinguishes the "
        "players of these stores (mean over all split halves, interval from the F "
        "distribution); retest: correlation of even and odd repeats of the same instances; "
        "error: standard error of measurement of such a mean; "
        f"{target_label}: episodes per player needed for a reliability of {target:g}."
    )
    for row in rows:
        if row.why:
            print_text(f"{row.game}, {row.trait} by {row.method}: {row.why}.")


def say_matrix(matrix: Matrix) -> None:
    """Print the mean correlations within and between traits and games."""
    if len(matrix.measures) < 2:
        return
    echo(f"\nCorrelations over the players that have both measures ({matrix.players} in all):")
    lines = [
        {"measures": kind, "pairs": e.n, "mean correlation": estimate_cell(e.value, e.interval, 2)}
        for kind, e in matrix.means.items()
        if e.n
    ]
    print_table(lines, ["measures", "pairs", "mean correlation"])
    print_text(
        "A trait is supported if its measures correlate more across games than different "
        "traits do within a game; `--figure FILE.svg` draws the whole matrix."
    )


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
    factors = [f for f in (*FACTORS, REST) if any(f in source.shares.shares for source in sources)]
    lines: list[dict[str, Any]] = []
    for source in sources:
        line: dict[str, Any] = {
            "game": source.game,
            "measure": source.measure,
            "n": source.shares.n,
        }
        for name in factors:
            share = source.shares.shares.get(name)
            line[name] = None if share is None else estimate_cell(share.value, share.interval, 2)
            if name in source.shares.same:
                line[name] = f"as {source.shares.same[name]}"
        lines.append(line)
    for names in fitting(lines, ["game", "measure"], [*factors, "n"]):
        print_table(lines, ["game", "measure", *names])
    print_text(
        "shares of the variance of one episode's score, generalised 95% intervals, "
        "which are wide for factors with few levels; setup: settings of a player other than "
        "its wording; chance: differences between repeats of an instance; rest: residual. A "
        "factor with one level is not shown; a factor that is confounded with another one is "
        "marked `as` the other factor."
    )
    for source in sources:
        if source.best_known is not None:
            drop = estimate_cell(source.fresh.value, source.fresh.interval)
            print_text(
                f"{source.game}, {source.measure}: {source.best_known:.3g} in the game's own "
                f"words, "
                f"{source.in_fresh:.3g} in new wordings; loss {drop} over {source.fresh.n} pairs."
            )
