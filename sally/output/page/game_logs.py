"""A self-contained HTML page for an audit of recorded games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sally.analysis.game_logs import GameLogAudit
from sally.output.html import Html, tag
from sally.output.page.columns import scroll_frame
from sally.output.page.document import write_document
from sally.output.tables.console import estimate_cell

TITLE = "Audit of recorded games"


def write_audit(audit: GameLogAudit, out: Path) -> None:
    """Write the page: what was found, failures by player and seat, results with and without the
    games that a failure ended, and mindless players.

    Raises:
        BadInput: The file cannot be written.
    """
    parts = (
        tag("p", f"{audit.games:,} games: " + ", ".join(audit.titles)),
        *(tag("p", sentence) for sentence in audit.sentences or ("Nothing was found.",)),
        tag("h2", "Moves that could not be used"),
        _table([
            {"player": row.player, "seat": row.seat + 1, "games": row.games, "moves": row.moves,
             "unusable": ", ".join(f"{count} {kind}" for kind, count in row.failures.items()),
             "games ended": row.games_cut}
            for row in audit.players
        ]),
        tag("h2", "Results with and without games that a failure ended"),
        _table([
            {"player": row.player, "result": _cell(row.every_game), "place": row.rank,
             "without": _cell(row.without_cut), "place without": row.rank_without}
            for row in audit.results
        ]),
        tag("h2", "Seats, ties and repetition"),
        _table([
            {"measure": "first seat: wins less losses", "value": _cell(audit.first_seat)},
            {"measure": "ties", "value": _cell(audit.ties)},
            {"measure": "recorded twice", "value": audit.same_id},
            {"measure": "same moves as another game", "value": audit.same_moves},
            {"measure": "too short or uniform to judge", "value": audit.unjudged},
        ]),
        tag("h2", "Mindless players, per round less the player"),
        _table([
            {"player": row.player, "instead": row.simple, "difference": _cell(row.difference)}
            for row in audit.simple
        ]) if audit.simple else tag("p", "Blank: no payoffs of rounds are recorded."),
    )  # fmt: skip
    write_document(out, TITLE, (tag("h1", TITLE),), parts)


def _cell(estimate: Any) -> str:
    return "-" if estimate is None else estimate_cell(estimate.value, estimate.interval, 2)


def _table(rows: Sequence[Mapping[str, Any]]) -> Html:
    names = list(rows[0])
    heading = tag("tr", [tag("th", name) for name in names])
    lines = [
        tag("tr", [tag("td", "" if row[name] is None else str(row[name])) for name in names])
        for row in rows
    ]
    return scroll_frame(tag("table", tag("thead", heading), tag("tbody", lines)), TITLE)
