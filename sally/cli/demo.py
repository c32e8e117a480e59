"""`sally demo`: the main job in miniature."""

from __future__ import annotations

from pathlib import Path

import click

from sally.api import find_study
from sally.cli.common import estimate_cell, json_option, print_json, print_table
from sally.cli.reading import heading, score_rows
from sally.cli.running import counts, run_with_progress
from sally.reports.rows import Row


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/demo"))
@json_option
def demo(out: Path, as_json: bool) -> None:
    """Play the quickstart study and say what it shows."""
    study = find_study("quickstart")
    contents = run_with_progress(study, out, None)
    found = score_rows(contents.episodes.values(), seat="agent")
    if as_json:
        print_json({"out": str(out), **counts(contents), "scores": found})
        return
    for game in dict.fromkeys(row["game"] for row in found):
        knowing_and_doing([row for row in found if row["game"] == game], game)
    click.echo(
        "Read it so: ToM % is how often a player foresaw its partner's move, regret what it lost\n"
        "a round against the best possible play, ToM regret what it would have lost by replying\n"
        "best to its own forecasts, and translation what it lost by not doing so."
    )
    first = next(iter(contents.episodes))
    click.echo(f"The log is in {out}. Try next:")
    click.echo(f"  sally show {out}/{first[:8]} --eyes agent")
    click.echo(f"  sally replay {out}")
    click.echo("  sally play rps --seat partner=tit_for_tat --set rounds=5")


SHOWN = ("tom_percent", "functional_regret", "tom_regret", "translation_loss")


def knowing_and_doing(found: list[Row], game: str) -> None:
    """One game: who played whom, what they knew and what they did."""
    lines: dict[tuple[str, str], dict[str, object]] = {}
    for row in found:
        line = lines.setdefault(
            (row["player"], row["others"]), {"player": row["player"], "partner": row["others"]}
        )
        line["n"] = row["episodes"]
        line[heading(row["metric"])] = estimate_cell(row["value"], row["interval"], places=2)
    names = [heading(metric) for metric in SHOWN]
    print_table(lines.values(), ("player", "partner", *names, "n"), title=game)
