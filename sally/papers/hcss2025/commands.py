"""`sally paper hcss2025`: figures of imported matches."""

from __future__ import annotations

from typing import Any

import click

from sally.analysis.episodes.stores import games_in
from sally.core.errors import BadInput
from sally.output.tables.console import json_option, print_rows
from sally.papers.hcss2025 import figures
from sally.papers.hcss2025.reader import MODELS
from sally.stats.intervals import Estimate

CELLS = ("CC", "CD", "DC", "DD")


@click.group("hcss2025")
def COMMANDS() -> None:
    """Language models in the repeated dilemma: figures of imported matches."""


@COMMANDS.command("figures")
@click.argument("where")
@click.option("--unpublished", is_flag=True, help="Include matches without published replies.")
@json_option
def show(where: str, unpublished: bool, as_json: bool) -> None:
    """Print how often each model in the store WHERE cooperates (at first, and after each outcome),
    and its doing score (0: random play, 1: optimum), by stopping probability."""
    sides = figures.side_matches(games_in(where, "repeated_games"))
    sides = [s for s in sides if s.replies or unpublished]
    if not sides:
        raise BadInput(
            f"{where} contains no imported matches; `sally import hcss2025` imports them."
        )
    rows: list[dict[str, Any]] = []
    for model in MODELS:
        for stop in sorted({s.stop for s in sides}):
            model_sides = [s for s in sides if s.model == model and s.stop == stop]
            if not model_sides:
                continue
            scored, moves = figures.as_scored(model_sides)
            row = {"model": model, "stop": stop, "moves": moves, "C as scored": scored / moves}
            row |= _two("C", figures.cooperation(model_sides)) | _two(
                "doing", figures.doing(model_sides)
            )
            row |= _two("opens with C", figures.cooperation(model_sides, ""))
            for cell in CELLS:
                row |= _two(f"C after {cell}", figures.cooperation(model_sides, cell))
            rows.append(row)
    print_rows(rows, as_json, "Readable decisions; n after each figure")


def _two(name: str, estimate_and_n: tuple[Estimate, int]) -> dict[str, Any]:
    value, n = estimate_and_n
    return {name: value.value, f"{name}, interval": value.interval, f"{name}, n": n}
