"""`sally paper eger2017`: figures of imported Hanabi games."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from sally.analysis.episodes.stores import games_in
from sally.core.errors import BadInput
from sally.output.tables.console import json_option, print_json, print_table
from sally.papers.eger2017 import figures
from sally.papers.eger2017.reader import AIS
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
    bot_names = figures.AGREEMENT if bots else ()
    games = figures.side_games(games_in(where, "hanabi"), bot_names)
    if not games:
        raise BadInput(f"{where} contains no imported games; `sally import eger2017` imports them.")
    tables: dict[str, list[dict[str, Any]]] = {}
    for subset, of in figures.subsets(games).items():
        rows = tables[subset] = []
        for ai in AIS:
            ai_games = [g for g in of if g.ai == ai]
            if not ai_games:
                continue
            rows.append(_row(ai, "table", "score (kept)", figures.score(ai_games)))
            rows.append(_row(ai, "table", "score (zero)", figures.score(ai_games, zero=True)))
            for human in (True, False):
                side = [g for g in ai_games if g.human == human]
                side_name = "person" if human else "AI"
                rows += [_row(ai, side_name, n, figures.measure(side, n)) for n in figures.MEASURES]
                rows += [
                    _row(ai, side_name, f"agrees with {bot}", figures.agreement(side, bot))
                    for bot in bot_names
                ]
    if as_json:
        print_json(tables)
        return
    for subset, rows in tables.items():
        print_table(rows, list(rows[0]) if rows else [], subset.capitalize())


def _row(ai: str, side_name: str, name: str, value: Estimate) -> dict[str, Any]:
    return {"AI": ai, "who": side_name, "measure": name, **msgspec.to_builtins(value)}
