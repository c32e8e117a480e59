"""Who takes part in a study, as rows: every function here is a job of one transaction.

Kept of a person is the id that the recruitment platform gave, and nothing else that names them.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.web.database import Database, Postgres, Row, Sqlite, Transaction
from sally.web.study.assignment import Assignment, assigned
from sally.web.study.definition import HumanStudy
from sally.web.study.steps import Round

LOG = logging.getLogger("sally.web")
ACTIVE, DONE, INCOMPLETE, FAILED, LAPSED = "active", "done", "incomplete", "failed", "lapsed"
EXCLUDED = "excluded"  # failed the attention checks of a study that excludes for that; paid
COUNTED = (ACTIVE, DONE)  # who fill a place in the design
WITHDRAWN, DECLINED = "withdrawn", "declined"  # counted, and nothing else is known of them
HEARTBEAT = 15.0  # seconds after which somebody who waits for a partner is gone

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS people (
        id TEXT PRIMARY KEY, study TEXT NOT NULL, given TEXT NOT NULL, cookie TEXT NOT NULL,
        number INTEGER NOT NULL, state TEXT NOT NULL, cell TEXT NOT NULL, design INTEGER NOT NULL,
        reverse INTEGER NOT NULL, pair TEXT NOT NULL DEFAULT '', seat TEXT NOT NULL DEFAULT '',
        waits DOUBLE PRECISION, bonus TEXT NOT NULL DEFAULT '', code TEXT NOT NULL DEFAULT '',
        joined DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL,
        finished DOUBLE PRECISION)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS people_given ON people (study, given) WHERE given <> ''",
    "CREATE UNIQUE INDEX IF NOT EXISTS people_cookie ON people (study, cookie)",
    """CREATE TABLE IF NOT EXISTS people_steps (
        person TEXT NOT NULL, step TEXT NOT NULL, value TEXT NOT NULL,
        made DOUBLE PRECISION NOT NULL, PRIMARY KEY (person, step))""",
    """CREATE TABLE IF NOT EXISTS people_tables (
        person TEXT NOT NULL, round INTEGER NOT NULL, match TEXT NOT NULL, seat TEXT NOT NULL,
        PRIMARY KEY (person, round))""",
    "CREATE INDEX IF NOT EXISTS people_tables_match ON people_tables (match)",
    """CREATE TABLE IF NOT EXISTS people_events (
        person TEXT NOT NULL, n INTEGER NOT NULL, page TEXT NOT NULL, kind TEXT NOT NULL,
        detail TEXT NOT NULL, made DOUBLE PRECISION NOT NULL, PRIMARY KEY (person, n))""",
    """CREATE TABLE IF NOT EXISTS study_secrets (
        study TEXT PRIMARY KEY, salt TEXT NOT NULL, sign TEXT NOT NULL, design TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS study_counts (
        study TEXT NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (study, what))""",
)
COLUMNS = (
    "id, given, number, state, cell, design, reverse, pair, seat, waits, bonus, code, joined, "
    "seen, finished"
)


class Person(msgspec.Struct, frozen=True):
    """One participant as the database has them."""

    id: str
    given: str
    number: int
    state: str
    condition: str
    row: int
    reverse: bool
    pair: str
    seat: str
    waits: float | None  # since when they have waited for a partner
    bonus: str
    code: str
    joined: float
    seen: float
    finished: float | None


class Secrets(msgspec.Struct, frozen=True):
    """What a study keeps to itself: the salt of exported ids, and the key of tokens and forms."""

    salt: str
    sign: str

    def exported(self, person: Person) -> str:
        """The name that a person has outside; without the salt nobody can test a guess."""
        return _mac(self.salt, person.given or f"no id/{person.id}")[:20]

    def seat_token(self, person: str, round: int) -> str:
        """What opens a person's seat; made again whenever it is needed, so it is kept nowhere."""
        return _mac(self.sign, f"seat/{person}/{round}")

    def form_token(self, cookie: str, given: str | None = None) -> str:
        """What a form of this browser carries; a consent form is bound to its link's id, too."""
        parts = ("form", cookie) if given is None else ("consent", cookie, given)
        return _mac(self.sign, msgspec.json.encode(parts).decode())  # no part runs into another


def _mac(key: str, text: str) -> str:
    return hmac.new(bytes.fromhex(key), text.encode(), sha256).hexdigest()


# --- the study itself ---------------------------------------------------------------------------


async def prepare(database: Database, study: HumanStudy) -> Secrets:
    """Make the secrets of a study, unless they are there; refuse one that was changed under way."""
    design = study.design()

    def make(tx: Transaction) -> Secrets | None:
        row = tx.one("SELECT salt, sign, design FROM study_secrets WHERE study = ?", study.name)
        if row is None:
            made = Secrets(secrets.token_hex(32), secrets.token_hex(32))
            given = (study.name, made.salt, made.sign, design)
            tx.put("INSERT INTO study_secrets VALUES (?, ?, ?, ?)", *given)
            return made
        if row[2] != design:
            if everybody(tx, study.name):
                return None
            tx.put("UPDATE study_secrets SET design = ? WHERE study = ?", design, study.name)
        return Secrets(row[0], row[1])

    if (kept := await database.run(make)) is None:
        raise BadInput(
            f"The study {study.name!r} was changed after people had begun it; give it another "
            "name, or take the change back (participants, limits, texts and links may change)."
        )
    return kept


async def known(database: Database, study: HumanStudy) -> Secrets:
    """The secrets of a study that has begun; nothing is written."""
    row = await database.run(
        lambda tx: tx.one("SELECT salt, sign FROM study_secrets WHERE study = ?", study.name)
    )
    if row is None:
        raise BadInput(f"The study {study.name!r} has not been started with this database.")
    return Secrets(row[0], row[1])


def count(tx: Transaction, study: str, what: str) -> None:
    """One more of those of whom nothing is kept."""
    if not tx.put("UPDATE study_counts SET n = n + 1 WHERE study = ? AND what = ?", study, what):
        tx.put("INSERT INTO study_counts VALUES (?, ?, 1)", study, what)


def counts(tx: Transaction, study: str) -> dict[str, int]:
    return dict(tx.all("SELECT what, n FROM study_counts WHERE study = ?", study))


# --- people -------------------------------------------------------------------------------------


def _person(row: Row) -> Person:
    given = dict(zip(Person.__struct_fields__, row, strict=True))
    return Person(**{**given, "reverse": bool(given["reverse"])})


def by_cookie(tx: Transaction, study: str, cookie: str) -> Person | None:
    row = tx.one(f"SELECT {COLUMNS} FROM people WHERE study = ? AND cookie = ?", study, cookie)
    return None if row is None else _person(row)


def by_given(tx: Transaction, study: str, given: str) -> Person | None:
    row = tx.one(f"SELECT {COLUMNS} FROM people WHERE study = ? AND given = ?", study, given)
    return None if row is None else _person(row)


def by_id(tx: Transaction, person: str) -> Person | None:
    row = tx.one(f"SELECT {COLUMNS} FROM people WHERE id = ?", person)
    return None if row is None else _person(row)


def everybody(tx: Transaction, study: str) -> list[Person]:
    rows = tx.all(f"SELECT {COLUMNS} FROM people WHERE study = ? ORDER BY number", study)
    return [_person(row) for row in rows]


def give_cookie(tx: Transaction, person: str, cookie: str) -> None:
    """Let somebody go on in another browser; the earlier one is shut out."""
    tx.put("UPDATE people SET cookie = ? WHERE id = ?", cookie, person)


def is_full(study: HumanStudy, people: Sequence[Person]) -> bool:
    return sum(p.state in COUNTED for p in people) >= study.participants


def join(tx: Transaction, study: HumanStudy, cookie: str, given: str) -> Person | None:
    """Take somebody in and assign them; None when the study is full, or they are in already."""
    lapse(tx, study)
    people = everybody(tx, study.name)
    if is_full(study, people) or by_cookie(tx, study.name, cookie) is not None:
        return None
    if given and by_given(tx, study.name, given) is not None:
        return None
    taken = tx.one("SELECT n FROM study_counts WHERE study = ? AND what = 'joined'", study.name)
    number = taken[0] if taken else 0  # counts those who withdrew, too: a number is used once
    count(tx, study.name, "joined")
    filled = [Assignment(p.condition, p.row, p.reverse) for p in people if p.state in COUNTED]
    place = assigned(study, filled, number)
    now, id = time.time(), secrets.token_hex(16)
    tx.put(
        "INSERT INTO people (id, study, given, cookie, number, state, cell, design, reverse, "
        "joined, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(id, study.name, given, cookie, number, ACTIVE, place.condition, place.row),
        *(int(place.reverse), now, now),
    )
    return by_cookie(tx, study.name, cookie)


def lapse(tx: Transaction, study: HumanStudy) -> None:
    """Give up whoever has not been heard of for too long, at no table and on no page."""
    long_ago = time.time() - 60 * study.limits.idle_minutes
    idle = tx.all(
        "SELECT id FROM people WHERE study = ? AND state = ? AND seen < ?",
        *(study.name, ACTIVE, long_ago),
    )
    for (id,) in idle:
        at_table = tx.one(
            "SELECT t.match FROM people_tables t JOIN matches m ON m.id = t.match "
            "LEFT JOIN answers a ON a.match = t.match "
            "WHERE t.person = ? AND (m.ended = 0 OR a.made >= ?)",
            *(id, long_ago),
        )
        if at_table is None:
            set_state(tx, id, LAPSED)


def see(tx: Transaction, person: str) -> None:
    tx.put("UPDATE people SET seen = ? WHERE id = ?", time.time(), person)


def set_state(tx: Transaction, person: str, state: str) -> None:
    tx.put("UPDATE people SET state = ? WHERE id = ? AND state = ?", state, person, ACTIVE)


def finish(tx: Transaction, person: str, state: str, bonus: str, code: str) -> None:
    """The end of a person's way, once."""
    tx.put(
        "UPDATE people SET state = ?, bonus = ?, code = ?, finished = ?, seen = ? "
        "WHERE id = ? AND state = ?",
        *(state, bonus, code, time.time(), time.time(), person, ACTIVE),
    )


# --- what they said -----------------------------------------------------------------------------


def given_by(tx: Transaction, person: str) -> dict[str, Any]:
    """All that somebody has answered, by step."""
    rows = tx.all("SELECT step, value FROM people_steps WHERE person = ?", person)
    return {step: msgspec.json.decode(value) for step, value in rows}


def note(tx: Transaction, person: str, step: str, value: Any) -> bool:
    """Keep an answer, unless that step is answered; says whether it was kept."""
    see(tx, person)
    return note_quietly(tx, person, step, value)


def note_quietly(tx: Transaction, person: str, step: str, value: Any) -> bool:
    """Keep something of somebody who need not be there, unless they have withdrawn meanwhile."""
    if by_id(tx, person) is None:
        return False
    text = msgspec.json.encode(value).decode()
    kept = tx.put(
        "INSERT INTO people_steps (person, step, value, made) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (person, step) DO NOTHING",
        *(person, step, text, time.time()),
    )
    return kept > 0


def table_of(tx: Transaction, person: str, round: int) -> tuple[str, str] | None:
    """The match and seat of somebody's round, once it is open."""
    row = tx.one(
        "SELECT match, seat FROM people_tables WHERE person = ? AND round = ?", person, round
    )
    return None if row is None else (row[0], row[1])


def sit_down(tx: Transaction, match: str, round: int, people: Mapping[str, str]) -> None:
    """Say which match a round of these people is, by seat; fails if one has that round already."""
    for seat, person in people.items():
        tx.put("INSERT INTO people_tables VALUES (?, ?, ?, ?)", person, round, match, seat)


def tables(tx: Transaction, person: str) -> list[tuple[int, str, str]]:
    """Every round of somebody as (round, match, seat)."""
    found = tx.all(
        "SELECT round, match, seat FROM people_tables WHERE person = ? ORDER BY round", person
    )
    return [(row[0], row[1], row[2]) for row in found]


def at_match(tx: Transaction, match: str) -> list[tuple[str, int, str]]:
    """Who sits at a match, as (person, round, seat)."""
    found = tx.all("SELECT person, round, seat FROM people_tables WHERE match = ?", match)
    return [(row[0], row[1], row[2]) for row in found]


# --- pairs --------------------------------------------------------------------------------------


def find_pair(
    tx: Transaction, study: HumanStudy, person: Person, seats: Sequence[str]
) -> dict[str, str]:
    """The people of this person's table by seat; empty while there are too few.

    Whoever waits longest is taken first. They share the order of instances of the one who has
    waited longest, and their seats are drawn.
    """
    now = time.time()
    if person.pair:
        rows = tx.all("SELECT seat, id FROM people WHERE pair = ?", person.pair)
        return dict(rows)
    tx.put("UPDATE people SET waits = COALESCE(waits, ?), seen = ? WHERE id = ?",
             now, now, person.id)  # fmt: skip
    rows = tx.all(
        "SELECT id, design FROM people WHERE study = ? AND cell = ? AND state = ? AND pair = '' "
        "AND waits IS NOT NULL AND seen >= ? ORDER BY waits, number",
        *(study.name, person.condition, ACTIVE, now - HEARTBEAT),
    )
    if len(rows) < len(seats):
        return {}
    chosen, pair = rows[: len(seats)], secrets.token_hex(8)
    drawn = Stream(study.seed, "seats", person.number).shuffled(seats)
    for (id, _), seat in zip(chosen, drawn, strict=True):
        tx.put(
            "UPDATE people SET pair = ?, seat = ?, design = ? WHERE id = ?",
            *(pair, seat, chosen[0][1], id),
        )
    mine = {seat: id for (id, _), seat in zip(chosen, drawn, strict=True)}
    return mine if person.id in mine.values() else {}


# --- withdrawal ---------------------------------------------------------------------------------


def part(tx: Transaction, match: str, person: str) -> None:
    """Take a match away from everybody who sat at it, as one of them withdraws.

    Whoever had not heard how it ended is told that the partner left.
    """
    left = msgspec.to_builtins(Round("partner left"))
    for other, k, _ in at_match(tx, match):
        if other != person:
            note_quietly(tx, other, f"round-{k}", left)
    tx.put("DELETE FROM people_tables WHERE match = ?", match)


def erase(tx: Transaction, study: str, person: str) -> None:
    """Delete all rows of somebody; only their number is left."""
    for table in ("people_steps", "people_tables", "people_events"):
        tx.put(f"DELETE FROM {table} WHERE person = ?", person)
    tx.put("DELETE FROM people WHERE id = ?", person)
    count(tx, study, WITHDRAWN)


def wipe(database: Database) -> None:
    """Take what was deleted out of the files of the database, as far as that is in our hands.

    The rows are gone when this is called, so what fails here is for the log, not for the person.
    """
    try:
        if isinstance(database.engine, Sqlite):
            _empty_log(database.engine)
        else:
            _vacuum(database.engine)
    except Exception as why:
        LOG.error("deleted rows may still stand in the files of the database: %s", why)


def _empty_log(engine: Sqlite) -> None:
    with closing(sqlite3.connect(engine.path, timeout=30)) as db:
        busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        LOG.error("the write-ahead log is in use; it holds deleted rows until the next start")


def _vacuum(engine: Postgres) -> None:
    import psycopg

    with psycopg.connect(engine.address, autocommit=True) as db:
        for table in (
            "people",
            "people_steps",
            "people_tables",
            "people_events",
            "answers",
            "matches",
            "seats",
        ):
            db.execute(f"VACUUM {table}")
