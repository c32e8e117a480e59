"""`sally paper eger2017`: figures of imported Hanabi games."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from sally.analysis.episodes.stores import games_in
from sally.core.errors import BadInput
from sally.output.tables.console import json_option, print_json, print_table
from sally.papers.eger2017 import figures
from sally.papers.eger2017.reading import AIS
from sally.stats.intervals import Estimate


@click.group("eger2017")
def COMMANDS() -> None:
    """People and three AIs at Hanabi: figures of imported games."""


@COMMANDS.command("figures")
@click.argument("where")
@click.option("--bots", is_flag=True, help="Also show agreement with Sally's bots (slower).")
@json_option
def show(where: str, bots: bool, as_json: bool) -> None:
    """Print scores and moves of people and AIs in the store WHERE, by AI. Each person is a
    cluster."""
    named = figures.AGREEMENT if bots else ()
    games = figures.side_games(games_in(where, "hanabi"), named)
    if not games:
        raise BadInput(f"{where} contains no imported games; `sally import eger2017` imports them.")
    found: dict[str, list[dict[str, Any]]] = {}
    for subset, of in figures.subsets(games).items():
        rows = found[subset] = []
        for ai in AIS:
            mine = [g for g in of if g.ai == ai]
            if not mine:
                continue
            rows.append(_row(ai, "table", "score (kept)", figures.score(mine)))
            rows.append(_row(ai, "table", "score (zero)", figures.score(mine, zero=True)))
            for human in (True, False):
                side = [g for g in mine if g.human == human]
                who = "person" if human else "AI"
                rows += [_row(ai, who, n, figures.measure(side, n)) for n in figures.MEASURES]
                rows += [
                    _row(ai, who, f"agrees with {bot}", figures.agreement(side, bot))
                    for bot in named
                ]
    if as_json:
        print_json(found)
        return
    for subset, rows in found.items():
        print_table(rows, list(rows[0]) if rows else [], subset.capitalize())


def _row(ai: str, who: str, name: str, value: Estimate) -> dict[str, Any]:
    return {"AI": ai, "who": who, "measure": name, **msgspec.to_builtins(value)}
