"""`sally run`: a study from beginning to end, or from where it stopped."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally.api import find_study
from sally.cli.common import json_option, print_json, progress
from sally.cli.reading import print_scores, score_rows
from sally.core.errors import BadInput
from sally.core.study import Study
from sally.runner import local
from sally.store import Contents


@click.command()
@click.argument("study")
@click.option("--out", type=click.Path(path_type=Path), help="Where episodes go [out/STUDY].")
@click.option("--limit", type=int, help="At most so many episodes of each cell and lineup.")
@click.option("--seed", type=int, help="Another seed than the study's own.")
@json_option
def run(study: str, out: Path | None, limit: int | None, seed: int | None, as_json: bool) -> None:
    """Run what is missing of STUDY (a name or a TOML file)."""
    if limit is not None and limit < 1:
        raise BadInput(f"--limit must be at least 1, not {limit}.")
    wanted = find_study(study)
    if seed is not None:
        wanted = msgspec.structs.replace(wanted, seed=seed)
    folder = out or Path("out") / wanted.name
    contents = run_with_progress(wanted, folder, limit)
    if as_json:
        print_json({"study": wanted.name, "out": str(folder), **counts(contents)})
        return
    print_scores(score_rows(contents.episodes.values()))
    click.echo(f"{len(contents.episodes)} episodes in {folder}")
    warn(contents)
    click.echo(f"Next: sally score {folder}   sally replay {folder}   sally show {folder}")


def run_with_progress(study: Study, folder: Path, limit: int | None) -> Contents:
    """Run a study with a bar on standard error."""
    with progress() as bar:
        task = bar.add_task(study.name, total=None, note="")

        def watch(now: local.Progress) -> None:
            note = f"{now.censored} censored" if now.censored else ""
            bar.update(task, total=now.wanted, completed=now.done, note=note)

        return local.run_study(study, folder, limit, watch)


def counts(contents: Contents) -> dict[str, object]:
    censored = sum(e.payoffs is None for e in contents.episodes.values())
    return {
        "episodes": len(contents.episodes),
        "censored": censored,
        "bad_lines": [str(line) for line in contents.bad],
        "doubled": contents.doubled,
    }


def warn(contents: Contents) -> None:
    """Say what could not be read."""
    for line in contents.bad:
        click.echo(f"unreadable, kept in quarantine: {line}", err=True)
