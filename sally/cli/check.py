"""`sally check`: the conformance checks for a game."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from sally.cli.common import parse_settings, set_option
from sally.cli.paper import say_pack
from sally.core.terminal_text import echo
from sally.output.tables.console import PLAYED, json_option, print_json, print_text
from sally.testing import SEEDS, Result, results


@click.command()
@click.argument("game")
@set_option
@click.option(
    "--seeds", default=SEEDS, type=PLAYED, show_default=True, help="Number of seeds for each check."
)
@json_option
def check(game: str, settings: tuple[str, ...], seeds: int, as_json: bool) -> None:
    """Check a game of your own, or a words pack.

    GAME, its partners, metrics, card and board must pass the checks of the shipped games. The
    command exits with code 1 if a check fails. `sally --use FILE check GAME` checks a game in FILE.
    If GAME is a words pack (a .toml file), its sentences are checked and compared with published
    texts.
    """
    if game.endswith(".toml"):
        say_pack(Path(game))
        return
    outcomes: list[Result] = []
    reasons: set[str] = set()
    for result in results(game, parse_settings(settings), seeds=seeds):
        outcomes.append(result)
        if not as_json and not result.passed and result.why not in reasons:
            print_text(f"failed: {result.check}: {result.why}")
        reasons.add(result.why)
    broken = sum(not result.passed for result in outcomes)
    if as_json:
        print_json({"game": game, "checks": msgspec.to_builtins(outcomes), "failed": broken})
    else:
        failed_reasons = {result.why for result in outcomes if not result.passed}
        if alike := broken - len(failed_reasons):
            others = "1 other check" if alike == 1 else f"{alike} other checks"
            echo(f"failed: {others} for a reason above; --json lists them.")
        echo(f"{game}: {len(outcomes) - broken} of {len(outcomes)} checks passed.")
    sys.exit(1 if broken else 0)
