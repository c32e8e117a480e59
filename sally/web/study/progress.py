"""Where a study stands: counts by state and cell, everybody in short, and who is paid what."""

from __future__ import annotations

import csv
import io
from collections import Counter
from decimal import Decimal
from statistics import median
from typing import Any

import msgspec

from sally.output.files.export import harmless
from sally.web.database import Transaction
from sally.web.study import events, participants
from sally.web.study.items import attention
from sally.web.study.participants import DONE, EXCLUDED, FAILED, INCOMPLETE, Person
from sally.web.study.running import RunningStudy
from sally.web.study.steps import current

PAID = (DONE, INCOMPLETE, EXCLUDED, FAILED)  # who appear in the list of payments


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
        if not here.database.read_only:
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
                here.study.places(c),
            )
            for c in here.study.conditions
        ),
        at_tables=at_tables,
        minutes=median(times) if times else None,
        bonus=str(sum((Decimal(p.bonus) for p in people if p.bonus), Decimal(0))),
        wanted=here.study.participants,
    )


async def listed(here: RunningStudy) -> list[dict[str, Any]]:
    """Everybody who takes part: state, time, cell, checks, and what was noted of them."""

    def look(tx: Transaction) -> list[dict[str, Any]]:
        noted = events.counted(tx, here.study.name)
        people = participants.everybody(tx, here.study.name)
        return [_listed(here, tx, p, noted.get(p.id, {})) for p in people]

    return await here.database.run(look)


def _listed(
    here: RunningStudy, tx: Transaction, person: Person, noted: dict[str, int]
) -> dict[str, Any]:
    given = participants.given_by(tx, person.id)
    passed, asked = attention(here.study.survey, given.get("survey") or {})
    last = person.finished or person.seen
    condition = here.study.condition(person.condition)
    return {
        "participant": here.secrets.exported(person),
        "state": person.state,
        "condition": person.condition,
        "step": current(here.study, condition, given),
        "minutes": round((last - person.joined) / 60, 1),
        "attention": f"{passed} of {asked}" if asked else None,
        "pastes": noted.get("paste", 0),
        "away": noted.get("hidden", 0) + noted.get("blur", 0),
        "pay": person.bonus or None,  # base and bonus together
    }


async def payments(here: RunningStudy) -> str:
    """Who is to be paid what, as CSV: the only list with the ids that the platform gave.

    Platforms pay the base by themselves, so base and bonus stand apart.
    """
    people = await here.database.run(lambda tx: participants.everybody(tx, here.study.name))
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("participant_id", "platform", "state", "base", "bonus", "currency", "code"))
    for person in people:
        if person.state in PAID:
            base, bonus = here.study.bonus.parts(person.bonus)
            platform, currency = here.study.platform.name, here.study.bonus.currency
            who = (person.given, platform, person.state, base, bonus, currency, person.code)
            rows.writerow([harmless(str(each)) for each in who])  # a link may hold a formula
    return out.getvalue()
