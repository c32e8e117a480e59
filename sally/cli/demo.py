"""`sally demo`: the main job in miniature."""

from __future__ import annotations

from pathlib import Path

import click

from sally.api import find_study
from sally.cli.common import json_option, print_json
from sally.cli.reading import print_scores, score_rows
from sally.cli.running import counts, run_with_progress


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
    print_scores(found)
    first = next(iter(contents.episodes))
    click.echo(f"The log is in {out}. Try next:")
    click.echo(f"  sally show {out}/{first[:8]} --eyes agent")
    click.echo(f"  sally replay {out}")
    click.echo("  sally play rps --seat partner=tit_for_tat --set rounds=5")
