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
from sally.papers.pact.reading import Record, files_under, model_name, read_record
from sally.parts.imported import Difference, ImportRun, Oddity, recorded_player


def imported(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    taken = ImportRun()
    met: Counter[tuple[int, str, str]] = Counter()
    seen: dict[str, str] = {}
    for file in files_under(path):
        with taken.listing_errors(str(file)):
            record = read_record(file)
            taken.counts["found"] += 1
            if (before := seen.setdefault(record.id, file.name)) != file.name:
                why = f"the game of {before}, imported from there"
                taken.oddities.append(Oddity(str(file), "copy", why))
                continue
            key = (record.seed, record.names[BUYER], record.names[SELLER])
            counts = {"repeated seeds": int(met[key] > 0), **_tally(record)}
            taken.add(*as_episode(record, met[key]), counts)
            met[key] += 1
    return taken.result(allow_empty=True)


def _tally(record: Record) -> dict[str, int]:
    spoken = sum(len(each.said) for each in record.rounds)
    return {
        "rounds": len(record.rounds),
        "trades": sum(each.price is not None for each in record.rounds),
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
    match: Match[Any, Any, Any] = Match(GAME, setup, ask_nature=True)
    differences: list[Difference] = []
    for number, each in enumerate(record.rounds, 1):
        if record.era == "sequential":
            order = [seat for seat, _ in each.said] or [BUYER]
            match.move(NATURE, SEATS.index(order[0]))
            for seat in (order[0], SEATS[1 - SEATS.index(order[0])]):
                match.move(seat, Say(each.message(seat)))
        else:
            for seat in SEATS:
                match.move(seat, Say(each.message(seat)))
        for seat in SEATS:
            match.move(seat, each.quotes[seat])
        if match.state.quotes is not None:
            match.move(NATURE, int(each.up))
        differences += _differences(record, number, match.state)
    if not match.over:
        match.censor("left", f"{len(match.state.past)} rounds are on record")
    differences += _final(record, match.state)
    return match.episode(f"{record.era} {record.family}", _used(record)), differences


def _differences(record: Record, number: int, state: Any) -> Iterator[Difference]:
    each, ours = record.rounds[number - 1], state.past[-1]
    if each.price != ours.price:
        what = "trade" if None in (each.price, ours.price) else "price"
        yield Difference(record.id, what, number, str(each.price), str(ours.price))
    totals = dict(zip(SEATS, state.totals, strict=True))
    if each.totals and each.totals != totals:
        yield Difference(record.id, "running totals", number, str(each.totals), str(totals))


def _final(record: Record, state: Any) -> Iterator[Difference]:
    totals = dict(zip(SEATS, state.totals, strict=True))
    if record.final and record.final != totals:
        yield Difference(record.id, "final payoffs", None, str(record.final), str(totals))
    surplus = len(record.rounds) * (record.value - record.cost)
    ours = sum(record.value - record.cost for each in state.past if each.price is not None)
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


IMPORTER = Importer("pact", "twenty rounds of bargaining with talk between models (PACT)", imported)
