"""Importer of GAMA-Bench's guessing and public goods games: choices as recorded.

In GAMA-Bench, a player was told the mean, the target and the winning number; Sally's contest shows
all numbers. Moves are imported unchanged, and `used` records this difference. A contribution
outside the endowment is not a legal move: the round is void.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sally.core.log.events import Episode, Instance, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Forfeit
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportResult
from sally.papers.gamabench.reader import FILES, GUESSING, RecordedTable, read
from sally.parts.importers import Difference, ImportRun, recorded_player

GAMES = {GUESSING: "level_k", "public_goods": "public_goods"}


def params_of(table: RecordedTable) -> dict[str, Any]:
    """Return the parameters of the game that was played."""
    rounds, players = len(table.choices), len(table.seats)
    if table.game == GUESSING:
        pays = {
            "kind": "contest",
            "players": players,
            "low": table.low,
            "high": table.high,
            "share": table.share,
        }
        return {"pays": pays, "rounds": rounds, "void_limit": rounds}
    params = {"players": players, "tokens": table.high, "ratio": table.ratio, "rounds": rounds}
    return {**params, "void_limit": rounds}


def as_episode(table: RecordedTable) -> tuple[Episode, list[Difference]]:
    """Return one recorded game as an episode, and the contributions that the rules do not allow."""
    name, spec = f"gamabench:{table.file}:0", registry.game(GAMES[table.game])
    params = params_of(table)
    seats = [str(seat) for seat in spec.build(params).seats]
    lineup = dict(zip(seats, map(recorded_player, table.seats), strict=True))
    match: Match[Any, int, Any] = Match(spec, Setup(Instance(name, spec.name, params), 0, lineup))
    differs = []
    for number, choices in enumerate(table.choices, 1):
        turn = match.turn
        for seat, choice in zip(match.game.seats, choices, strict=True):
            legal = table.low <= choice <= table.high
            if not legal:
                texts = f"{choice} by {seat}", f"from {table.low} to {table.high}"
                differs.append(Difference(name, "contribution", number, *texts))
            reason = f"{choice} is outside the endowment"
            match.answer((turn, seat, "", ""), Decision(choice) if legal else Forfeit(reason))
    used = {
        "source": msgspec.to_builtins(table.source),
        "model": table.model,
        "variant": table.variant,
        "shown there": "mean, target and winning number" if table.game == GUESSING else
        "all contributions and holdings",
    }  # fmt: skip
    return match.episode(table.variant, used), differs


def import_games(path: Path) -> ImportResult:
    """Import every recorded game under a path, of both kinds: guessing and public goods."""
    games_found = read(path)
    run = ImportRun(games_found.oddities, games_found.counts)
    for table in games_found.tables:
        counts = {f"tables of {table.game}": 1, f"rounds of {table.game}": len(table.choices)}
        run.add(*as_episode(table), counts)
    run.counts.update({f"files of {game} in the full record": n for game, n in FILES.items()})
    return run.result(allow_empty=True)


IMPORTER = Importer(
    "gamabench",
    "thirteen models in guessing and public goods games among their like (Huang et al. 2025)",
    import_games,
)
