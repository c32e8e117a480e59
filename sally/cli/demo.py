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
from sally.cli.run import progress_watcher
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
    episode_count = len(local.orders(study))
    evaluation = evaluation_of(place, BOT if missing else "", study=study, many=episode_count)
    evaluation = msgspec.structs.replace(evaluation, suite="a tiny slice of Sally-1")
    page = place.parent / f"{place.name}.html"
    write_evaluation(evaluation, page)
    if as_json:
        paths = {"out": str(place), "page": str(page), "missing": missing}
        print_json({**paths, **msgspec.to_builtins(evaluation)})
        return
    _say(evaluation, missing)
    sally = "sally" if which("sally") else os.path.relpath(sys.argv[0])  # as `make demo` runs it
    echo(f"The page: {page}   The log: {place}   Try next:")
    echo(f"  {sally} evaluate --model MODEL     the whole suite with your model")
    echo(f"  {sally} show {place}")
    echo(f"  {sally} play rps --seat partner=tit_for_tat --set rounds=5")
    if sys.stdout.isatty() and (sys.platform == "darwin" or os.environ.get("DISPLAY")):
        click.launch(str(page))


def _say(evaluation: Evaluation, missing: str) -> None:
    print_table(
        [row_of(game) for game in evaluation.games],
        list(row_of(evaluation.games[0])),
        title=f"{evaluation.player}, {evaluation.suite}: {evaluation.episodes} episodes",
    )
    for sentence in evaluation.sentences:
        echo(fill(sentence, WIDTH))
    for game in evaluation.games:
        if reason := game.why.get("knowing"):
            echo(fill(f"{game.game} has no value of knowing: {reason}.", WIDTH))
    echo(fill(ABOUT, WIDTH))
    if missing:
        echo(fill(f"The embedded model did not play: {missing}.", WIDTH))


def row_of(game: GameResult) -> Row:
    """Return the result of one demo game as a row of the table."""
    best = next((line.doing for line in game.lines if line.player == "best_bot"), None)
    estimates = {"knowing": game.knowing, "acting on it": game.acting, "doing": game.doing}
    return {
        "game": game.game,
        **{name: estimate_cell(e.value, None, 2) for name, e in estimates.items()},
        "mindless": estimate_cell(game.mindless, None, 2),
        "best bot": estimate_cell(best, None, 2),
        "forfeits": f"{game.forfeits}/{game.forfeits + game.moves}",
    }


def embedded_is_missing() -> str:
    """Return why the embedded model cannot play here; empty if it can."""
    echo("downloading and testing the embedded model (first run only)", err=True)
    try:
        registry.model("embedded")
    except BadInput as error:
        return str(error).removesuffix(".")
    return ""
