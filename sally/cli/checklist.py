"""`sally profile --checklist`: check which claims about players the episodes of a store support."""

from __future__ import annotations

import click
import msgspec

from sally.analysis.design.claims import Verdict, verdicts
from sally.api.claims import claim_controls
from sally.cli.common import STORE
from sally.cli.profile import profile_rows
from sally.core.terminal_text import echo
from sally.output.tables.console import json_option, print_json, print_table, print_text
from sally.store import Where


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=STORE)
@click.option("--game", "games", multiple=True, help="Only this game; may be repeated.")
@click.option("--player", "players", multiple=True, help="Only this player; may be repeated.")
@click.option("--cell", "cells", multiple=True, help="Only this cell; * matches anything.")
@click.option("--by", type=click.Choice(["cell"]), help="One verdict per player and cell.")
@click.option(
    "--pairs",
    type=STORE,
    metavar="DIR",
    help="Store of the same player on certified pairs (`sally evaluate`), for theory of mind.",
)
@json_option
def checklist(
    folders: tuple[Where, ...],
    games: tuple[str, ...],
    players: tuple[str, ...],
    cells: tuple[str, ...],
    by: str | None,
    pairs: Where | None,
    as_json: bool,
) -> None:
    """Check which words about players (knows, acts on, ...) the episodes in DIR support.

    "Knows", "acts on" and "theory of mind" are refused if a simple rule predicts as well, a habit
    explains the moves, there are fewer than five clusters, or control arms are missing or did not
    come out as they must. A word that is not refused may still be wrong. `sally audit --checklist
    STUDY` checks a design.
    """
    rows = profile_rows(folders, games=games, players=players, cells=cells, by_cell=by == "cell")
    claims = verdicts(rows.estimates, controls=claim_controls(folders, pairs))
    if as_json:
        print_json([msgspec.to_builtins(claim) for claim in claims])
        return
    lines = [
        {
            "game": claim.game,
            "player": f"{claim.player}, {claim.cell}" if claim.cell else claim.player,
            **{word: claim.describe_claim(word) or "-" for word in claim.refused},
            "clusters": claim.clusters,
        }
        for claim in claims
    ]
    print_table(lines, list(lines[0]))
    for reason, subjects in grouped_reasons(claims).items():
        print_text(f"{reason[0]} refused: {reason[1]} ({'; '.join(subjects)})")
    refused = sum(bool(reasons) for claim in claims for reasons in claim.refused.values())
    echo(f"{refused} of {len(claims) * 3} words are refused; -: not refused.")


def grouped_reasons(claims: list[Verdict]) -> dict[tuple[str, str], list[str]]:
    """Return each claim and reason once, with the players and games concerned."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        subject = f"{claim.player} in {claim.cell or claim.game}"
        for word, reasons in claim.refused.items():
            for reason in reasons:
                grouped.setdefault((word, reason), []).append(subject)
    return grouped
