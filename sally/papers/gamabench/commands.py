"""`sally paper gamabench`: figures of the published games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from sally.output.tables.console import json_option, print_json, print_table
from sally.papers.gamabench import figures
from sally.papers.gamabench.reader import read


@click.group("gamabench")
def COMMANDS() -> None:
    """GAMA-Bench: guessing and public goods games with one model in all seats."""


@COMMANDS.command("figures")
@click.argument("path", type=click.Path(path_type=Path))
@json_option
def show(path: Path, as_json: bool) -> None:
    """Print each model's score, first number, doing score in hindsight (0: random numbers, 1: the
    best numbers) and contribution."""
    guessing, goods = figures.summary(read(path).tables)
    if as_json:
        results: Any = {"guessing": guessing, "goods": goods}
        print_json(msgspec.to_builtins(results, str_keys=True))
        return
    rows = [
        {
            "model": g.model,
            "tables": str(g.tables),
            "100 - mean": f"{g.score:.1f}",
            "first mean, median": f"{g.first_mean:.1f}, {g.first_median:g}",
            "levels": ", ".join(f"{k}: {n}" for k, n in g.depths.items()),
            "mean in rounds": ", ".join(f"{n}: {m:.1f}" for n, m in g.means.items()),
            "doing": "" if g.doing.value is None else f"{g.doing.value:.3f}",
        }
        for g in guessing
    ]
    if rows:
        print_table(rows, list(rows[0]), "Guessing game")
    goods_rows = [
        {
            "model": g.model,
            "tables": str(g.tables),
            "given": f"{g.given:.3f}",
            "by round": ", ".join(f"{n}: {m:.3f}" for n, m in g.by_round.items()),
        }
        for g in goods
    ]
    if goods_rows:
        print_table(goods_rows, list(goods_rows[0]), "Public goods: share of the tokens given")
