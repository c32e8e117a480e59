"""What leaves the database: episodes for the store, rows for analysis, payments for the platform.

Exports know people by a salted hash; the salt stays in the database. Payments are the one list
with the ids that the platform gave, because it pays by them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from sally import store
from sally.core.log import Episode, to_line
from sally.web.database import Transaction
from sally.web.study import participants
from sally.web.study.participants import DONE, INCOMPLETE, Person
from sally.web.study.running import RunningStudy

FILE = "people.jsonl"  # of the store: written anew by each export, so that it forgets who withdrew
ROWS = "people.json"


class CellCount(msgspec.Struct, frozen=True):
    """How one condition is filled."""

    condition: str
    states: dict[str, int]
    wanted: float


class Progress(msgspec.Struct, frozen=True):
    """Where a study stands."""

    states: dict[str, int]
    cells: tuple[CellCount, ...]
    at_tables: int
    minutes: float | None  # the median of those who are through
    bonus: str  # in sum
    wanted: int


async def progress(here: RunningStudy) -> Progress:
    """Counts by state and condition, median time and the sum of bonuses."""

    def look(tx: Transaction) -> tuple[list[Person], dict[str, int], int]:
        participants.lapse(tx, here.study)
        sitting = tx.one("SELECT COUNT(*) FROM matches WHERE owner = ? AND ended = 0", here.owner)
        people = participants.everybody(tx, here.study.name)
        return people, participants.counts(tx, here.study.name), sitting[0] if sitting else 0

    people, gone, at_tables = await here.database.run(look)
    times = [(p.finished - p.joined) / 60 for p in people if p.finished and p.state == DONE]
    counted = {what: gone.get(what, 0) for what in (participants.WITHDRAWN, participants.DECLINED)}
    return Progress(
        states={**Counter(p.state for p in people), **counted},
        cells=tuple(
            CellCount(
                c.name,
                dict(Counter(p.state for p in people if p.condition == c.name)),
                here.study.participants / len(here.study.conditions),
            )
            for c in here.study.conditions
        ),
        at_tables=at_tables,
        minutes=median(times) if times else None,
        bonus=str(sum((Decimal(p.bonus) for p in people if p.bonus), Decimal(0))),
        wanted=here.study.participants,
    )


async def payments(here: RunningStudy) -> str:
    """Who is to be paid what, as CSV: the only list with the ids that the platform gave."""
    people = await here.database.run(lambda tx: participants.everybody(tx, here.study.name))
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("id", "state", "bonus", "currency", "code"))
    for person in people:
        if person.state in (DONE, INCOMPLETE, participants.FAILED):
            currency = here.study.bonus.currency
            rows.writerow((person.given, person.state, person.bonus, currency, person.code))
    return out.getvalue()


# --- episodes and rows --------------------------------------------------------------------------


async def exported(here: RunningStudy) -> tuple[list[Episode], list[dict[str, Any]]]:
    """Every episode that is over, and a row for every person who is not withdrawn."""
    async with here.erasing:
        return await _gathered(here)


async def _gathered(here: RunningStudy) -> tuple[list[Episode], list[dict[str, Any]]]:
    people = await here.database.run(lambda tx: participants.everybody(tx, here.study.name))
    episodes: dict[str, Episode] = {}
    rows = []
    for person in people:
        tables = await here.database.run(lambda tx, id=person.id: participants.tables(tx, id))  # type: ignore[misc]
        given = await here.database.run(lambda tx, id=person.id: participants.given_by(tx, id))  # type: ignore[misc]
        played = []
        for k, match, seat in tables:
            found = episodes.get(match) or await here.live_matches.episode(match)
            if found is None:
                continue  # still going on
            seconds = await here.database.run(
                lambda tx, match=match, seat=seat: _seconds(tx, match, seat)  # type: ignore[misc]
            )
            episodes[match] = _with_person(here, found, person, seat, k, seconds)
            played.append({"round": k, "episode": found.id, "instance": found.setup.instance.id})
        rows.append(_row(here, person, given, played))
    return list(episodes.values()), rows


def _seconds(tx: Transaction, match: str, seat: str) -> list[float]:
    """How long each answer of a seat took, from what was said before it."""
    made = tx.all("SELECT seat, made FROM answers WHERE match = ? ORDER BY n", match)
    began = tx.one("SELECT made FROM matches WHERE id = ?", match)
    times = [began[0] if began else 0.0, *(row[1] for row in made)]
    return [
        round(row[1] - before, 2)
        for row, before in zip(made, times, strict=False)
        if row[0] == seat
    ]


def _with_person(
    here: RunningStudy,
    episode: Episode,
    person: Person,
    seat: str,
    k: int,
    seconds: Sequence[float],
) -> Episode:
    """The episode with what only the study knows of somebody at the table."""
    people = dict(episode.used.get("people", {}))
    people[seat] = {
        "participant": here.secrets.exported(person),
        "round": k,
        "option_order": "reversed" if person.reverse else "as given",
        "state": person.state,
        "seconds": list(seconds),
    }
    return msgspec.structs.replace(episode, used={**episode.used, "people": people})


def _row(
    here: RunningStudy, person: Person, given: dict[str, Any], played: list[dict[str, Any]]
) -> dict[str, Any]:
    condition = here.study.condition(person.condition)
    ended = person.finished
    return {
        "participant": here.secrets.exported(person),
        "state": person.state,
        "condition": person.condition,
        "order": [i.id for i in here.instances(condition, person.row)],
        "option_order": "reversed" if person.reverse else "as given",
        "pair": blake2b(person.pair.encode(), digest_size=8).hexdigest() if person.pair else None,
        "minutes": round((ended - person.joined) / 60, 2) if ended else None,
        "bonus": person.bonus or None,
        "check": [given[key] for key in sorted(given) if key.startswith("check-")],
        "rounds": [given[key] for key in sorted(given, key=_number) if key.startswith("round-")],
        "episodes": played,
        "survey": given.get("survey"),
    }


def _number(key: str) -> int:
    tail = key.rpartition("-")[2]
    return int(tail) if tail.isdigit() else -1


async def put_into_store(here: RunningStudy, folder: Path) -> int:
    """Write the study's store, in the place of an earlier export; says how many episodes."""
    asks = blake2b(msgspec.json.encode(here.study, order="sorted"), digest_size=12).hexdigest()
    store.claim(folder, store.Manifest(here.study.name, asks))
    place = store.Folder(folder)
    async with here.erasing:  # until it is written: else somebody erased could come back with it
        episodes, rows = await _gathered(here)
        place.put(FILE, b"".join(map(to_line, episodes)))
        place.put(ROWS, msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n")
    return len(episodes)
