"""Importer of PACT games: recorded messages and quotes, replayed under Sally's rules.

Trade, price and running totals of every round and the final payoffs are compared with the record;
differences are listed. Messages are moves of the talk phase in the order of the log; an absent
message is silence. A price between two whole units is rounded up or down by a coin toss; the
recorded toss is nature's move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sally.core.log.events import Episode, Instance, Setup
from sally.core.match.engine import Match
from sally.core.registry.paper import Importer, ImportResult
from sally.core.rules.game import NATURE
from sally.games.bargaining import GAME
from sally.games.bargaining.rules import BUYER, SEATS, SELLER, Say
from sally.papers.pact.reader import Record, files_under, model_name, read_record
from sally.parts.importers import Difference, ImportRun, Oddity, recorded_player


def import_games(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    run = ImportRun()
    repeats: Counter[tuple[int, str, str]] = Counter()
    files_by_id: dict[str, str] = {}
    for file in files_under(path):
        with run.listing_errors(str(file)):
            record = read_record(file)
            run.counts["found"] += 1
            if (first_file := files_by_id.setdefault(record.id, file.name)) != file.name:
                reason = f"the game of {first_file}, imported from there"
                run.oddities.append(Oddity(str(file), "copy", reason))
                continue
            key = (record.seed, record.names[BUYER], record.names[SELLER])
            counts = {"repeated seeds": int(repeats[key] > 0), **_tally(record)}
            run.add(*as_episode(record, repeats[key]), counts)
            repeats[key] += 1
    return run.result(allow_empty=True)


def _tally(record: Record) -> dict[str, int]:
    spoken = sum(len(recorded.messages) for recorded in record.rounds)
    return {
        "rounds": len(record.rounds),
        "trades": sum(recorded.price is not None for recorded in record.rounds),
        "messages": spoken,
        "absent messages": 2 * len(record.rounds) - spoken,
        "communication violations": record.violations,
        "raw replies without the recorded price": record.unlike,
        "games in which a replacement is possible": record.replacement_possible,
        f"era {record.era}": 1,
    }


def as_episode(record: Record, repeat: int = 0) -> tuple[Episode, list[Difference]]:
    """Return a game as an episode, replayed under the rules, with its differences from the
    record."""
    params = {
        "value": record.value,
        "cost": record.cost,
        "rounds": len(record.rounds),
        "talk": record.era,
        "family": record.family,
        "prior_told": False,
    }
    lineup = {str(seat): recorded_player(record.names[seat]) for seat in SEATS}
    setup = Setup(
        Instance(f"pact:{record.id}", "bargaining", params), 0, lineup, GAME.version, repeat=repeat
    )
    match: Match = Match(GAME, setup, ask_nature=True)
    differences: list[Difference] = []
    for number, recorded in enumerate(record.rounds, 1):
        if record.era == "sequential":
            order = [seat for seat, _ in recorded.messages] or [BUYER]
            match.move(NATURE, SEATS.index(order[0]))
            for seat in (order[0], SEATS[1 - SEATS.index(order[0])]):
                match.move(seat, Say(recorded.message(seat)))
        else:
            for seat in SEATS:
                match.move(seat, Say(recorded.message(seat)))
        for seat in SEATS:
            match.move(seat, recorded.quotes[seat])
        if match.state.quotes is not None:
            match.move(NATURE, int(recorded.is_rounded_up))
        differences += _differences(record, number, match.state)
    if not match.over:
        match.censor("left", f"{len(match.state.past)} rounds are on record")
    differences += _final(record, match.state)
    return match.episode(f"{record.era} {record.family}", _used(record)), differences


def _differences(record: Record, number: int, state: Any) -> Iterator[Difference]:
    recorded, ours = record.rounds[number - 1], state.past[-1]
    if recorded.price != ours.price:
        subject = "trade" if None in (recorded.price, ours.price) else "price"
        yield Difference(record.id, subject, number, str(recorded.price), str(ours.price))
    totals = dict(zip(SEATS, state.totals, strict=True))
    if recorded.totals and recorded.totals != totals:
        yield Difference(record.id, "running totals", number, str(recorded.totals), str(totals))


def _final(record: Record, state: Any) -> Iterator[Difference]:
    totals = dict(zip(SEATS, state.totals, strict=True))
    if record.final and record.final != totals:
        yield Difference(record.id, "final payoffs", None, str(record.final), str(totals))
    surplus = len(record.rounds) * (record.value - record.cost)
    ours = sum(record.value - record.cost for recorded in state.past if recorded.price is not None)
    if record.efficiency is not None and abs(record.efficiency - ours / surplus) > 1e-9:
        yield Difference(record.id, "efficiency", None, str(record.efficiency), str(ours / surplus))


def _used(record: Record) -> dict[str, Any]:
    return {
        "source": msgspec.to_builtins(record.source),
        "schema": record.schema,
        "era": record.era,
        "seed there": record.seed,
        "models": {
            str(seat): msgspec.to_builtins(model_name(record.names[seat])) for seat in SEATS
        },
        "replacement possible": record.replacement_possible,
    }


IMPORTER = Importer(
    "pact", "twenty rounds of bargaining with talk between models (PACT)", import_games
)
