"""`sally audit --logs`: what decided somebody's recorded games."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from sally.adapters.game_logs import read_game_logs
from sally.analysis.game_logs import GameLogAudit, audit_games
from sally.core.terminal_text import echo
from sally.output.tables.console import (
    PATH,
    estimate_cell,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.stats.intervals import Estimate


@click.command("audit --logs")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=PATH, help="Also write one self-contained page.")
@json_option
def audit_logs(logs: tuple[Path, ...], out: Path | None, as_json: bool) -> None:
    """Audit recorded games: forfeits, seats, repetitions, ties and mindless players.

    LOGS are Inspect logs, replays of Kaggle environments, interactions of clembench, records of
    TextArena, or tables (.csv) with the columns game, seat, player, and score or payoff.
    """
    audit = audit_games(read_game_logs(logs))
    if out is not None:
        from sally.output.page.game_logs import write_audit

        write_audit(audit, out)
    if as_json:
        print_json(msgspec.to_builtins(audit))
        return
    titles = ", ".join(f"{count:,} of {title}" for title, count in audit.titles.items())
    print_text(f"{audit.games:,} games: {titles}.")
    print_text(*(audit.sentences or ("Nothing was found.",)))
    print_table(player_rows(audit), list(player_rows(audit)[0]))
    print_table(result_rows(audit), list(result_rows(audit)[0]))
    print_text(notes(audit))
    if out is not None:
        echo(f"Page: {out}")


def player_rows(audit: GameLogAudit) -> list[dict[str, object]]:
    """Return, for each player and seat, its moves and those that could not be used."""
    kinds = sorted({kind for row in audit.players for kind in row.failures})
    return [
        {
            "player": row.player,
            "seat": row.seat + 1,
            "games": row.games,
            "moves": row.moves,
            **{kind: row.failures.get(kind, 0) for kind in kinds},
            "games ended": row.games_cut,
        }
        for row in audit.players
    ]


def result_rows(audit: GameLogAudit) -> list[dict[str, object]]:
    """Return the result of each player, with and without games that a failure ended."""
    return [
        {
            "player": row.player,
            "result": _cell(row.every_game),
            "place": row.rank,
            "without games ended by failures": _cell(row.without_cut),
            "place without": row.rank_without,
        }
        for row in audit.results
    ]


def notes(audit: GameLogAudit) -> str:
    """Return the remaining figures in one paragraph."""
    lines = [f"Games ended by a failure: {_cell(audit.cut)}"]
    if audit.ties is not None:
        lines.append(f"ties: {_cell(audit.ties)}")
    lines.append(
        "first seat: players did not meet in both orders"
        if audit.first_seat is None
        else f"first seat, wins less losses: {_cell(audit.first_seat)} over "
        f"{audit.first_seat_games} games of players that met in both orders"
    )
    if audit.unjudged:
        lines.append(f"{audit.unjudged} games are too short or too uniform to tell repetition")
    if not audit.simple:
        lines.append("mindless players: blank, because no payoffs of rounds are recorded")
    return "; ".join(lines) + ". []: 95% intervals over games."


def _cell(estimate: Estimate) -> str:
    return estimate_cell(estimate.value, estimate.interval, 2)
