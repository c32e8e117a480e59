"""`sally run`: a study from beginning to end, or from where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from sally import store
from sally.api import find_study
from sally.cli.common import json_option, parsed, print_json, progress
from sally.cli.reading import print_scores, score_rows
from sally.core.errors import BadInput
from sally.core.study import Study
from sally.runner import local
from sally.runner.models import OPEN, models_of, with_model
from sally.store import Contents


@click.command()
@click.argument("study")
@click.option("--out", type=click.Path(path_type=Path), help="Where episodes go [out/STUDY].")
@click.option("--limit", type=int, help="At most so many episodes of each cell and lineup.")
@click.option("--seed", type=int, help="Another seed than the study's own.")
@click.option("--model", help="The model in the seats that stand open: embedded, openai/gpt-4o ...")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A model setting.")
@json_option
def run(
    study: str,
    out: Path | None,
    limit: int | None,
    seed: int | None,
    model: str | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run what is missing of STUDY (a name or a TOML file)."""
    if limit is not None and limit < 1:
        raise BadInput(f"--limit must be at least 1, not {limit}.")
    wanted = find_study(study)
    if seed is not None:
        wanted = msgspec.structs.replace(wanted, seed=seed)
    wanted = _for_model(wanted, model, parsed(settings))
    folder = out or Path("out") / wanted.name
    if model is not None and "/" in model:
        contents = _through_inspect(wanted, folder, limit)
    else:
        contents = run_with_progress(wanted, folder, limit)
    if as_json:
        print_json({"study": wanted.name, "out": str(folder), **counts(contents)})
        return
    print_scores(score_rows(contents.episodes.values()))
    click.echo(f"{len(contents.episodes)} episodes in {folder}")
    warn(contents)
    click.echo(f"Next: sally score {folder}   sally replay {folder}   sally show {folder}")


def _for_model(study: Study, model: str | None, settings: dict[str, Any]) -> Study:
    if model is not None:
        return with_model(study, model, settings)
    if OPEN in models_of(study):
        raise BadInput(f"{study.name} leaves seats open for a model; name one with --model.")
    return study


def _through_inspect(study: Study, folder: Path, limit: int | None) -> Contents:
    """Play what is missing through Inspect, which brings providers, cache and a viewer."""
    wanted = local.orders(study, limit)
    store.claim(folder, local.manifest(study))
    finished = store.load(folder).finished
    missing = [order for order in wanted if order[0] not in finished]
    if missing:
        from sally.adapters.inspect.run import play_orders  # an import of seconds

        play_orders(study.name, missing, folder)
    return store.load(folder)


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
