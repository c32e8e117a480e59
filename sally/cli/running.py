"""`sally run`: a study from beginning to end, or from where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from sally import store
from sally.api import find_study
from sally.cli.common import json_option, parsed, print_json, progress
from sally.cli.reading import print_scores, score_rows
from sally.core.errors import BadInput
from sally.core.model import Settings
from sally.core.study import Study, with_params
from sally.players.language import strategy_named
from sally.runner import local
from sally.runner import run as runs
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config, in_process, use_config
from sally.runner.models import OPEN, models_of, with_model
from sally.store import Contents
from sally.studies import arms

F = TypeVar("F", bound=Callable[..., Any])
SET_HELP = "A setting of the model (temperature=0), or a parameter of every instance (rounds=10)."


def model_options(command: F) -> F:
    """What `run` and `plan` are told of a study and its model."""
    for option in (
        click.option("--config", type=click.Path(path_type=Path), help="A config file."),
        click.option(
            "--without",
            multiple=True,
            metavar="STRATEGY",
            help="Leave the cells of a strategy out, such as lm for a model that cannot score.",
        ),
        click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=SET_HELP),
        click.option("--model", help="Who sits in open seats: embedded, openai/gpt-4o, an alias."),
        click.option("--seed", type=int, help="Another seed than the study's own."),
        click.option("--limit", type=int, help="At most so many episodes of each lineup."),
        click.option("--out", type=click.Path(path_type=Path), help="The store [out/STUDY]."),
    ):
        command = option(command)
    return click.argument("study")(command)


@click.command()
@model_options
@click.option("--budget", type=float, help="Stop when so much money is spent.")
@click.option("--budget-tokens", type=int, help="Stop when so many tokens are used.")
@click.option("--cache", is_flag=True, help="Use the cache of calls made before (through Inspect).")
@json_option
def run(
    study: str,
    out: Path | None,
    limit: int | None,
    seed: int | None,
    model: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    config: Path | None,
    budget: float | None,
    budget_tokens: int | None,
    cache: bool,
    as_json: bool,
) -> None:
    """Run what is missing of STUDY (a name or a TOML file)."""
    used = use_config(config)
    wanted = asked_study(study, limit, seed, model, settings, used, without)
    meter = Meter(Budget(budget, budget_tokens), used)
    meter.refuse_unpriced(models_of(wanted))
    folder = out or Path("out") / wanted.name
    if all(in_process(name) for name in models_of(wanted)):
        contents = run_with_progress(wanted, folder, limit, meter)
    else:
        shown = "none" if as_json else "plain"
        contents = _through_inspect(wanted, folder, limit, meter, cache, shown)
    left = not_run(wanted, limit, contents)
    if as_json:
        spent = {"calls": meter.calls, "tokens": meter.tokens, "money": meter.money}
        found = {**counts(contents), "spent": spent, "not_run": left}
        print_json({"study": wanted.name, "out": str(folder), **found})
        return
    print_scores(score_rows(contents.episodes.values()))
    click.echo(f"{len(contents.episodes)} episodes in {folder}")
    if meter.calls:
        click.echo(f"Used: {meter.said}")
    if left:
        why = " because the budget was spent" if meter.spent else ""
        click.echo(f"{left} episodes were not run or cut short{why}; the same command goes on.")
    warn(contents)
    click.echo(f"Next: sally score {folder}   sally replay {folder}   sally show {folder}")


def asked_study(
    study: str,
    limit: int | None,
    seed: int | None,
    model: str | None,
    settings: tuple[str, ...],
    config: Config,
    without: tuple[str, ...] = (),
) -> Study:
    """The study as it is to be run, its open seats filled."""
    if limit is not None and limit < 1:
        raise BadInput(f"--limit must be at least 1, not {limit}.")
    wanted = find_study(study)
    for name in without:
        strategy_named(name)  # refuses one that is not there
    if without:
        wanted = arms.without(wanted, without)
    if seed is not None:
        wanted = msgspec.structs.replace(wanted, seed=seed)
    given = parsed(settings)
    params = {key: value for key, value in given.items() if key not in Settings.__struct_fields__}
    if params:
        wanted = with_params(wanted, params)
    if model is not None:
        entry = config.entry(model)
        said = {key: value for key, value in given.items() if key not in params}
        return with_model(wanted, entry.name, said, entry.settings)
    if len(given) > len(params):
        raise BadInput(f"--set {next(k for k in given if k not in params)} goes with --model.")
    if OPEN in models_of(wanted):
        raise BadInput(f"{wanted.name} leaves seats open for a model; name one with --model.")
    return wanted


def _through_inspect(
    study: Study, folder: Path, limit: int | None, meter: Meter, cache: bool, display: str
) -> Contents:
    """Play what is missing through Inspect, which brings providers, cache and a viewer."""
    wanted = local.orders(study, limit)
    store.claim(folder, local.manifest(study), study)
    there = store.survey(folder)
    local.refuse_changed(wanted, there.instances, folder)
    missing = [order for order in wanted if order[0] not in there.finished]
    if missing:
        from sally.adapters.inspect.run import play_orders  # an import of seconds

        play_orders(study.name, missing, folder, meter, cache, display)
    return store.load(folder)


def not_run(study: Study, limit: int | None, contents: Contents) -> int:
    """How many episodes a resume would play."""
    return sum(id not in contents.finished for id, _, _ in local.orders(study, limit))


def run_with_progress(
    study: Study, folder: Path, limit: int | None, meter: Meter | None = None
) -> Contents:
    """Run a study with a bar on standard error."""
    with progress() as bar:
        task = bar.add_task(study.name, total=None, note="")

        def watch(now: runs.Progress) -> None:
            note = f"{now.censored} censored" if now.censored else ""
            bar.update(task, total=now.wanted, completed=now.done, note=note)

        return runs.run_study(study, folder, limit, watch, meter)


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
