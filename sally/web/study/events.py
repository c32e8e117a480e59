"""What is noted of how people take part, where a study declares it: paste, focus, typing, size."""

from __future__ import annotations

import time
from typing import Literal

import msgspec

from sally.web.database import Transaction

MOST_EVENTS = 2000  # of one person; what comes after is not kept, and the count says so
Kind = Literal["paste", "hidden", "shown", "blur", "focus", "resize", "typing"]


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened in a browser."""

    kind: Kind
    detail: str = ""
    page: str = ""


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some events that came together."""

    events: tuple[Event, ...]


class Kept(msgspec.Struct, frozen=True):
    """An event as the database has it."""

    n: int
    page: str
    kind: str
    detail: str
    made: float


def keep(tx: Transaction, person: str, events: tuple[Event, ...]) -> None:
    """Put events behind those that are known of somebody."""
    row = tx.one("SELECT COUNT(*) FROM people_events WHERE person = ?", person)
    n, now = (row[0] if row else 0), time.time()
    for event in events[: MOST_EVENTS - n]:
        tx.put(
            "INSERT INTO people_events (person, n, page, kind, detail, made) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            *(person, n, event.page[:60], event.kind, event.detail[:200], now),
        )
        n += 1


def events_of(tx: Transaction, person: str) -> list[Kept]:
    """All events of somebody, in order."""
    rows = tx.all(
        "SELECT n, page, kind, detail, made FROM people_events WHERE person = ? ORDER BY n", person
    )
    return [Kept(*row) for row in rows]


def counted(tx: Transaction, study: str) -> dict[str, dict[str, int]]:
    """By person, how often each kind of event came."""
    found: dict[str, dict[str, int]] = {}
    for person, kind, n in tx.all(
        "SELECT e.person, e.kind, COUNT(*) FROM people_events e JOIN people p ON p.id = e.person "
        "WHERE p.study = ? GROUP BY e.person, e.kind",
        study,
    ):
        found.setdefault(person, {})[kind] = n
    return found
