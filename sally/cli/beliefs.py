"""`sally profile --beliefs`: what players do with what they expect of others."""

from __future__ import annotations

from typing import Any

import click

from sally.api.beliefs import beliefs
from sally.cli.common import STORE
from sally.core.errors import join_names
from sally.output.tables.console import (
    estimate_cell,
    fitting,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.store import Where

KEYS = ["player", "n"]
ACTS = {
    "acts": "acts",
    "constant": "constant",
    "of others": "constant_of_others",
    "usual": "usual",
    "last move": "last_move",
    "other people": "swap_person",
    "other periods": "swap_period",
}
CONTESTS = {
    "best reply": "contest_best",
    "null": "contest_best_null",
    "less null": "contest_best_gain",
    "expected": "contest_expected",
    "its null": "contest_expected_null",
    "less it": "contest_expected_gain",
    "its habit": "contest_usual",
}
PAYOFFS = {
    "acting": "acting",
    "beyond habits": "beyond_habits",
    "stakes": "stakes",
    "doing": "doing",
    "if best-replied": "doing_if_best_replied",
}
LEGEND = (
    "acts: moves that are best replies to the player's own stated belief; random: the same for a "
    "random action; constant, of others, usual, last move: for the best single action of the game "
    "by these beliefs, by those of the other players, the mode of the player's other moves, and "
    "its previous move; other people, other periods: the moves "
    "against the beliefs of other players in the cell and against the player's own in other rows. "
    "Contests: decisions in which no best reply is what the player expects of most others; null: "
    "the moves of the other players in the cell against the same sets; its habit: moves that are "
    "the mode of the player's other moves. acting and beyond habits: acts from 0 (random; the best "
    "of these habits) to 1; stakes and doing: expected and true payoff from 0 (random) to 1 "
    "(best). After ±: 95% intervals; clusters are people, or a model's instances (if there are "
    "fewer than five: its episodes)."
)


@click.command("beliefs")
@click.argument("folders", nargs=-1, required=True, metavar="STORE...", type=STORE)
@json_option
def beliefs_(folders: tuple[Where, ...], as_json: bool) -> None:
    """Compare moves with stated beliefs: best replies, habits, and what is expected of others."""
    rows = beliefs(*folders)
    if as_json:
        print_json(rows)
        return
    for source in dict.fromkeys(row["source"] for row in rows):
        lines = [_cells(row) for row in rows if row["source"] == source]
        filled = [name for name in lines[0] if any(line[name] not in ("-", None) for line in lines)]
        for names in fitting(lines, KEYS, filled[len(KEYS) :]):
            print_table(lines, [*KEYS, *names], title=source)
    notes: dict[str, list[str]] = {}
    for summary in rows.summaries:
        for note in summary.notes:
            notes.setdefault(note, []).append(f"{summary.player} in {summary.source}")
    print_text(*(f"{note}: {join_names(names)}" for note, names in notes.items()), LEGEND)


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a row by heading."""
    cells = {"player": row["player"], "n": row["decisions"], "random": row["random"]}
    for heading, name in (ACTS | PAYOFFS).items():
        cells[heading] = estimate_cell(row[name], row[f"{name}_interval"], 3)
    cells["contests"] = row["contests"] or None
    for heading, name in CONTESTS.items():
        cells[heading] = estimate_cell(row[name], row[f"{name}_interval"], 3)
    return cells
