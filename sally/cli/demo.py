"""`sally evaluate --demo`: play a few pairs of the suite, evaluate them and show the result."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which

import click
import msgspec

from sally.api.pair_evaluation import PairRows, pair_evaluation_of
from sally.cli.pair_screen import print_evaluation
from sally.cli.run import progress_watcher
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.output.tables.console import PATH, json_option, print_json, print_text
from sally.runner import local
from sally.runner.config import find_config
from sally.runner.run import play_missing
from sally.studies.demo import BOT, STUDY, with_bot


@click.command()
@click.option("--out", type=PATH, default=Path("out/demo"), show_default=True)
@click.option("--bots", is_flag=True, help="Play a bot instead of the embedded model.")
@json_option
def demo(out: Path, bots: bool, as_json: bool) -> None:
    """Play a few pairs of the suite with the embedded model, and write a page about them."""
    missing = "left out by --bots" if bots else embedded_is_missing()
    study = with_bot() if missing else STUDY
    place = out if not missing else out.with_name(f"{out.name}-bot")
    with progress_watcher(study.name, find_config()) as watch:
        play_missing(study, place, None, watch)
    planned_setups = local.orders(study)
    evaluation = pair_evaluation_of(place, study, planned_setups, BOT if missing else "")
    page = PairRows(evaluation).page(place.parent / f"{place.name}.html")
    if as_json:
        paths = {"out": str(place), "page": str(page), "missing": missing}
        print_json({**paths, **msgspec.to_builtins(evaluation, str_keys=True)})
        return
    print_evaluation(evaluation, show_all=False)
    print_text("These few pairs show how it works; a verdict needs the whole suite.")
    if missing:
        print_text(f"The embedded model did not play: {missing}.")
    sally = "sally" if which("sally") else os.path.relpath(sys.argv[0])  # as `make demo` runs it
    echo(f"The page: {page}   The log: {place}   Try next:")
    echo(f"  {sally} evaluate --model MODEL     the whole suite with your model")
    echo(f"  {sally} show {place}")
    echo(f"  {sally} play rps --seat partner=tit_for_tat --set rounds=5")
    if sys.stdout.isatty() and (sys.platform == "darwin" or os.environ.get("DISPLAY")):
        click.launch(str(page))


def embedded_is_missing() -> str:
    """Return why the embedded model cannot play here; empty if it can."""
    echo("downloading and testing the embedded model (first run only)", err=True)
    try:
        registry.model("embedded")
    except BadInput as error:
        return str(error).removesuffix(".")
    return ""
