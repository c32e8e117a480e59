"""`sally evaluate --demo`: play a tiny slice of the suite, evaluate it and show the result."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which
from textwrap import fill

import click
import msgspec

from sally.analysis.evaluation import Evaluation, GameResult
from sally.api.evaluation import evaluation_of
from sally.cli.running import progress_watcher
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.frames import Row
from sally.output.page.evaluation import write_evaluation
from sally.output.tables.console import PATH, estimate_cell, json_option, print_json, print_table
from sally.runner import local
from sally.runner.config import find_config
from sally.runner.run import play_missing
from sally.studies.demo import BOT, STUDY, with_bot

WIDTH = 79  # columns of text in a terminal of 80
ABOUT = (
    "knowing: predictions about others, 0 for an even guess; acting on it: moves that are best "
    "replies to the player's own predictions, 0 for a random move; doing: 0 for a random player, 1 "
    "for the optimum; mindless, best bot: their doing on the same problems. These few problems "
    "show how it works; a claim needs the whole suite."
)


@click.command()
@click.option("--out", type=PATH, default=Path("out/demo"), show_default=True)
@click.option("--bots", is_flag=True, help="Play a bot instead of the embedded model.")
@json_option
def demo(out: Path, bots: bool, as_json: bool) -> None:
    """Play a tiny slice of the suite with the embedded model, and write a page about it."""
    missing = "left out by --bots" if bots else embedded_is_missing()
    study = with_bot() if missing else STUDY
    place = out if not missing else out.with_name(f"{out.name}-bot")
    with progress_watcher(study.name, find_config()) as watch:
        play_missing(study, place, None, watch)
    many = len(local.orders(study))
    found = evaluation_of(place, BOT if missing else "", study=study, many=many)
    found = msgspec.structs.replace(found, suite="a tiny slice of Sally-1")
    page = place.parent / f"{place.name}.html"
    write_evaluation(found, page)
    if as_json:
        shown = {"out": str(place), "page": str(page), "missing": missing}
        print_json({**shown, **msgspec.to_builtins(found)})
        return
    _say(found, missing)
    sally = "sally" if which("sally") else os.path.relpath(sys.argv[0])  # as `make demo` runs it
    echo(f"The page: {page}   The log: {place}   Try next:")
    echo(f"  {sally} evaluate --model MODEL     the whole suite with your model")
    echo(f"  {sally} show {place}")
    echo(f"  {sally} play rps --seat partner=tit_for_tat --set rounds=5")
    if sys.stdout.isatty() and (sys.platform == "darwin" or os.environ.get("DISPLAY")):
        click.launch(str(page))


def _say(found: Evaluation, missing: str) -> None:
    print_table([row_of(one) for one in found.games], list(row_of(found.games[0])),
                title=f"{found.player}, {found.suite}: {found.episodes} episodes")  # fmt: skip
    for sentence in found.sentences:
        echo(fill(sentence, WIDTH))
    for one in found.games:
        if reason := one.why.get("knowing"):
            echo(fill(f"{one.game} has no value of knowing: {reason}.", WIDTH))
    echo(fill(ABOUT, WIDTH))
    if missing:
        echo(fill(f"The embedded model did not play: {missing}.", WIDTH))


def row_of(one: GameResult) -> Row:
    """Return the result of one demo game as a row of the table."""
    best = next((line.doing for line in one.lines if line.player == "best_bot"), None)
    found = {"knowing": one.knowing, "acting on it": one.acting, "doing": one.doing}
    return {
        "game": one.game,
        **{name: estimate_cell(e.value, None, 2) for name, e in found.items()},
        "mindless": estimate_cell(one.mindless, None, 2),
        "best bot": estimate_cell(best, None, 2),
        "forfeits": f"{one.forfeits}/{one.forfeits + one.moves}",
    }


def embedded_is_missing() -> str:
    """Return why the embedded model cannot play here; empty if it can."""
    echo("downloading and testing the embedded model (first run only)", err=True)
    try:
        registry.model("embedded")
    except BadInput as why:
        return str(why).removesuffix(".")
    return ""
