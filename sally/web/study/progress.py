"""Progress of a study: counts by state and condition, list of participants, payments."""

from __future__ import annotations

import csv
import io
from collections import Counter
from decimal import Decimal
from statistics import median
from typing import Any

import msgspec

from sally.output.files.export import formula_safe
from sally.web.database import Transaction
from sally.web.study import participants
from sally.web.study.participants import ACTIVE, DONE, EXCLUDED, FAILED, INCOMPLETE, LAPSED, Person
from sally.web.study.running_study import RunningStudy
from sally.web.study.steps import (
    PLATFORM,
    attention_counts,
    current,
    paid_games,
    partner_kind,
    pay_of,
    pay_rule,
    rounds_in,
)
from sally.web.study.tables import utc

PAID = (DONE, INCOMPLETE, EXCLUDED, FAILED)  # states in the list of payments


class ConditionCount(msgspec.Struct, frozen=True):
    """Participants of a condition by state."""

    condition: str
    states: dict[str, int]
    wanted: float


class StudyProgress(msgspec.Struct, frozen=True):
    """Progress of a study."""

    states: dict[str, int]
    cells: tuple[ConditionCount, ...]
    at_tables: int
    minutes: float | None  # median of finished participants
    bonus: str  # total pay so far
    wanted: int


async def progress(running_study: RunningStudy) -> StudyProgress:
    """Return counts by state and condition, the median time and the total pay."""

    def look(tx: Transaction) -> tuple[list[Person], dict[str, int], int]:
        sitting = tx.first(
            "SELECT COUNT(*) FROM matches WHERE owner = ? AND ended = 0", running_study.owner
        )
        people = _everybody(running_study, tx)
        return (
            people,
            participants.counts(tx, running_study.study.name),
            sitting[0] if sitting else 0,
        )

    people, gone, at_tables = await running_study.database.run(look)
    times = [(p.finished - p.joined) / 60 for p in people if p.finished and p.state == DONE]
    counted = {
        state: gone.get(state, 0) for state in (participants.WITHDRAWN, participants.DECLINED)
    }
    return StudyProgress(
        states={**Counter(p.state for p in people), **counted},
        cells=tuple(
            ConditionCount(
                c.name,
                dict(Counter(p.state for p in people if p.condition == c.name)),
                running_study.study.places(c),
            )
            for c in running_study.study.conditions
        ),
        at_tables=at_tables,
        minutes=median(times) if times else None,
        bonus=str(sum((Decimal(p.bonus) for p in people if p.bonus), Decimal(0))),
        wanted=running_study.study.participants,
    )


async def participant_rows(running_study: RunningStudy) -> list[dict[str, Any]]:
    """Return all participants with state, condition, time, attention checks and events."""

    def look(tx: Transaction) -> list[dict[str, Any]]:
        noted = participants.event_counts(tx, running_study.study.name)
        people = _everybody(running_study, tx)
        return [_participant_row(running_study, tx, p, noted.get(p.id, {})) for p in people]

    return await running_study.database.run(look)


def _participant_row(
    running_study: RunningStudy, tx: Transaction, person: Person, noted: dict[str, int]
) -> dict[str, Any]:
    answers = participants.given_by(tx, person.id)
    last = person.finished or person.seen
    condition = running_study.study.condition(person.condition)
    passed, checks = attention_counts(running_study.study, condition, answers)
    return {
        "participant": running_study.secrets.export_id(person),
        "state": person.state,
        "condition": person.condition,
        "step": current(running_study.study, condition, answers),
        "minutes": round((last - person.joined) / 60, 1),
        "attention": f"{passed} of {checks}" if checks else None,
        "pastes": noted.get("paste", 0),
        "away": noted.get("hidden", 0) + noted.get("blur", 0),
        "pay": person.bonus or None,  # base and bonus together
    }


async def payments(running_study: RunningStudy) -> str:
    """Return the payments as CSV, the only export with the platform's participant ids.

    Base and bonus are separate columns, since platforms pay the base themselves. People who lapsed
    after they had played are listed with what they earned, so that the experimenter can decide.
    """

    def look(tx: Transaction) -> list[tuple[Person, dict[str, Any]]]:
        people = _everybody(running_study, tx)
        return [(p, participants.given_by(tx, p.id)) for p in people]

    study, people = running_study.study, await running_study.database.run(look)
    further = study.platform.keep
    draws_games = any(
        rule.random_games
        for condition in study.conditions
        for rule in study.pay_rules(condition).values()
    )
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    columns = ("participant_id", "platform", "state", "base", "bonus", "currency", "code")
    rows.writerow((*columns, "participant", *(("paid_games",) if draws_games else ()), *further))
    for person, answers in people:
        condition, amount = study.condition(person.condition), person.bonus
        rounds = rounds_in(study, condition, answers)
        if person.state == LAPSED and (rounds := await running_study.rounds_played(person)):
            amount = pay_of(study, condition, answers, person.number, rounds)
        if person.state in PAID or amount:
            base, bonus = pay_rule(study, condition, answers).parts(amount)
            platform_params = answers.get(PLATFORM) or {}
            paid = paid_games(study, condition, answers, person.number, rounds)
            paid_numbers = " ".join(str(game + 1) for game in paid)
            payment_row = (
                *(person.given, study.platform.name, person.state, base, bonus),
                *(study.bonus.currency, person.code, running_study.secrets.export_id(person)),
                *((paid_numbers,) if draws_games else ()),
                *(platform_params.get(name, "") for name in further),
            )
            # ids come from links and may be spreadsheet formulas
            rows.writerow([formula_safe(str(cell)) for cell in payment_row])
    return out.getvalue()


def _everybody(running_study: RunningStudy, tx: Transaction) -> list[Person]:
    return participants.everybody_now(tx, running_study.study, running_study.database.read_only)


async def participant_facts(running_study: RunningStudy, person: Person) -> dict[str, Any]:
    """Return everything that an experimenter needs to answer a participant's mail.

    Besides the row of the list: the platform's id, times, pay so far, completion code, partner and
    episodes; for active participants a link by which they continue in another browser.
    """

    def look(tx: Transaction) -> tuple[dict[str, Any], dict[str, Any], list[tuple[int, str, str]]]:
        events = participants.event_counts(tx, running_study.study.name).get(person.id, {})
        row = _participant_row(running_study, tx, person, events)
        answers = participants.given_by(tx, person.id)
        return row, answers, participants.tables(tx, person.id)

    row, answers, tables = await running_study.database.run(look)
    condition = running_study.study.condition(person.condition)
    return {
        **row,
        "participant_id": person.given or None,
        "partner": partner_kind(running_study.study, condition, answers),
        "started": utc(person.joined),
        "last_seen": utc(person.seen),
        "finished": utc(person.finished),
        "games": sum(k >= 0 for k, _, _ in tables),
        "code": person.code or None,
        "resume": await running_study.resume_link(person) if person.state == ACTIVE else None,
    }
