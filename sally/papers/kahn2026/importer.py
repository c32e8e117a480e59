"""Importer of the crisis games of the Kahn project (2026), from a user's own checkout.

The licence (CC BY-NC 4.0) does not allow Sally to ship the files, and the importer was written from
a description of them: it has never read the files themselves. Two models move at the same time on a
ladder of escalation, and each forecasts the other's rung before it moves. A reply that could not be
read was replaced by the lowest rung; such a move has the status `default`, and a move that the
simulation changed has the status `accident`. Neither is a move of the model, nor a truth of the
other's forecast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.registry.paper import Importer, ImportResult
from sally.games.elicitation.recorded_decisions import BeliefRow, StatedBelief, Status, episode_of
from sally.parts.importers import (
    ImportRun,
    NotPublished,
    Oddity,
    Source,
    existing,
    published_line,
    read_fetched_file,
    table_rows,
)

SOURCE = "Kahn project 2026, github.com/kennethpayne01/project_kahn_public"
LICENCE = "CC BY-NC 4.0; not to be passed on"
FORECAST, CONFIDENCE = "predicted_opponent_action", "predictive_confidence"
SIGNAL, RUNG, VALUE = "immediate_signal_value", "action_rung", "action_value"
ACCIDENT, MODEL, TURN = "accident", "model", "turn"
PARTS = (FORECAST, CONFIDENCE, SIGNAL, RUNG, VALUE, ACCIDENT, MODEL)
STATEMENTS = ("rationale", "consistency")  # in the names of columns that are empty if unread
NOTHING = ("", "nan", "none", "null")
TRUE = ("true", "1", "1.0", "yes")


class CrisisMove(msgspec.Struct, frozen=True):
    """One turn of one model."""

    game: str
    side: str
    model: str
    turn: int
    rung: str
    value: float
    status: Status
    forecast: str | None  # None: no forecast could be read
    confidence: str
    signal: float | None


def read(path: Path) -> tuple[dict[str, Source], list[CrisisMove], list[Oddity]]:
    """Return the moves in a checkout, a folder of CSV files, or one file.

    Raises:
        NotPublished: A file has the columns of one side only, or lacks a column.
    """
    files = [path] if existing(path).is_file() else sorted(path.rglob("*.csv"))
    sources: dict[str, Source] = {}
    moves: list[CrisisMove] = []
    oddities: list[Oddity] = []
    for file in files:
        data = read_fetched_file(file)
        sides = _sides(file.name, data)
        if not sides:
            oddities.append(Oddity(file.name, "left alone", "it has no forecasts"))
            continue
        needed = [TURN, *(f"{side}_{part}" for side in sides for part in PARTS)]
        sources[file.stem] = Source.of(SOURCE, LICENCE, file.name, data)
        for line, row in table_rows(file, data, needed):
            with published_line(file, line):
                moves += _moves(file.stem, sides, row)
    if not moves:
        raise NotPublished(f"{path} has no CSV file with a column that ends in _{FORECAST}.")
    return sources, moves, oddities


def _sides(file: str, data: bytes) -> list[str]:
    """Return the prefixes of the two players' columns, from the header of a table."""
    if not data.strip():
        raise NotPublished(f"{file} is empty.")
    header = data.split(b"\n", 1)[0].decode("utf-8-sig", "replace").strip().split(",")
    ending = f"_{FORECAST}"
    names = [name.strip('"') for name in header]
    sides = [name.removesuffix(ending) for name in names if name.endswith(ending)]
    if len(sides) != 2 and (sides or FORECAST.encode() in data):
        raise NotPublished(f"{file}: the header names {len(sides)} players with forecasts, not 2.")
    return sides


def _moves(game: str, sides: Sequence[str], row: Mapping[str, str]) -> Iterator[CrisisMove]:
    for side in sides:
        if _is_empty(row[f"{side}_{RUNG}"]) and _is_empty(row[f"{side}_{FORECAST}"]):
            continue
        statements = [
            name
            for name in row
            if name.startswith(f"{side}_") and any(part in name for part in STATEMENTS)
        ]
        if not statements:
            raise NotPublished(f"there is no column of {side} with a rationale or consistency.")
        status: Status = "chosen"
        if all(_is_empty(row[name]) for name in statements):
            status = "default"
        elif row[f"{side}_{ACCIDENT}"].strip().casefold() in TRUE:
            status = "accident"
        forecast, signal = row[f"{side}_{FORECAST}"], row[f"{side}_{SIGNAL}"]
        is_read = not _is_empty(forecast) and not _is_empty(row[f"{side}_{CONFIDENCE}"])
        yield CrisisMove(
            game,
            side,
            row[f"{side}_{MODEL}"],
            int(float(row[TURN])),
            _rung(row[f"{side}_{RUNG}"]),
            float(row[f"{side}_{VALUE}"]),
            status,
            _rung(forecast) if is_read else None,
            row[f"{side}_{CONFIDENCE}"].strip().casefold(),
            None if _is_empty(signal) else float(signal),
        )


def _is_empty(text: str) -> bool:
    return text.strip().casefold() in NOTHING


def _rung(text: str) -> str:
    """Return the name of a rung; a forecast may go on after a colon."""
    return " ".join(text.partition(":")[0].split())


def ladder(moves: Sequence[CrisisMove]) -> tuple[str, ...]:
    """Return the rungs that occur: those that were moved to by their value, then other forecasts.

    Raises:
        NotPublished: A rung has two values.
    """
    values: dict[str, float] = {}
    for move in moves:
        if values.setdefault(move.rung, move.value) != move.value:
            raise NotPublished(f"the rung {move.rung!r} has two values.")
    forecasts = {move.forecast for move in moves if move.forecast is not None}
    by_value = sorted(values, key=lambda rung: values[rung])
    return (*by_value, *sorted(forecasts - set(values)))


def row_for(move: CrisisMove, opponent: CrisisMove | None, rungs: tuple[str, ...]) -> BeliefRow:
    """Return a move as a row of the common table; no best reply is defined."""
    has_truth = opponent is not None and opponent.status == "chosen"
    belief = StatedBelief(
        "same_move",
        rungs,
        "choice",
        move.forecast,
        truth=opponent.rung if opponent is not None and has_truth else None,
        about="opponent",
        asked="before",
        bears="peer",
    )
    return BeliefRow(
        source="kahn2026",
        person=f"{move.game}:{move.side}",
        cluster=move.game,
        period=move.turn,
        instance=f"kahn2026:{move.game}:{move.side}:{move.turn}",
        cell=f"turn {move.turn}",
        menu=rungs,
        action=move.rung,
        status=move.status,
        beliefs=(belief,),
        model=move.model,
    )


def facts_of(move: CrisisMove, opponent: CrisisMove | None) -> dict[str, Any]:
    """Return what the figures need besides the row: values, signal and stated confidence."""
    return {
        "crisis": {
            "value": move.value,
            "signal": move.signal,
            "confidence": move.confidence,
            "opponent": None if opponent is None else opponent.rung,
        }
    }


def import_moves(path: Path) -> ImportResult:
    """Import every move of every game of a checkout."""
    sources, moves, oddities = read(path)
    rungs = ladder(moves)
    by_turn: dict[tuple[str, int], dict[str, CrisisMove]] = {}
    for move in moves:
        sides = by_turn.setdefault((move.game, move.turn), {})
        if move.side in sides:
            raise NotPublished(f"{path}: game {move.game} has turn {move.turn} twice.")
        sides[move.side] = move
    run = ImportRun(oddities, {"found": len(moves), "games": len(sources), "rungs": len(rungs)})
    for move in moves:
        sides = by_turn[move.game, move.turn]
        opponent = next(
            (other_side for side, other_side in sides.items() if side != move.side), None
        )
        row = row_for(move, opponent, rungs)
        run.add(*episode_of(row, sources[move.game], facts_of(move, opponent)), {move.status: 1})
    return run.result()


IMPORTER = Importer(
    "kahn2026",
    "models that forecast the opponent's move in a crisis (Kahn project 2026)",
    import_moves,
)
