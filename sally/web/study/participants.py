"""Participants in the database.

Functions whose first argument is a `Transaction` are called inside a transaction that is open.

The id given by the recruitment platform is the only personal identifier that is stored.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.web.database import Database, Postgres, Row, Sqlite, Transaction, read_schema
from sally.web.study.assignment import Assignment, assign_place
from sally.web.study.definition import HumanStudy
from sally.web.study.steps import CHATTING, EXCLUDED_BY, MODEL, READY, RoundOutcome

LOG = logging.getLogger("sally.web")
ACTIVE, DONE, INCOMPLETE, FAILED, LAPSED = "active", "done", "incomplete", "failed", "lapsed"
EXCLUDED = "excluded"  # failed attention checks where the study excludes for that; paid
COUNTED = (ACTIVE, DONE)  # states that fill a place in the design
WITHDRAWN, DECLINED = "withdrawn", "declined"  # only their number is stored
MOST_MESSAGES = 100  # of a person in one chat
MOST_CHARACTERS = 500  # of a message
MOST_EVENTS = 2000  # stored per person; later ones are dropped
Kind = Literal["paste", "hidden", "shown", "blur", "focus", "resize", "typing"]
HEARTBEAT = 15.0  # seconds without a poll after which a waiting person is gone
READING = 300.0  # seconds on one page during which a person is expected to go on

SCHEMA = read_schema("sally.web.study", "participants.sql")
# People without a group whose first game has neither begun nor been skipped.
UNGROUPED = (
    "pair = '' AND NOT EXISTS "
    "(SELECT 1 FROM people_tables t WHERE t.person = people.id AND t.round >= 0) AND NOT EXISTS "
    "(SELECT 1 FROM people_steps s WHERE s.person = people.id AND s.step = 'round-0')"
)
COLUMNS = (
    "id, given, number, state, cell, design, reverse, pair, seat, waits, bonus, code, joined, "
    "seen, finished"
)


class Person(msgspec.Struct, frozen=True):
    """A participant's row in the database."""

    id: str
    given: str
    number: int
    state: str
    condition: str
    row: int
    reverse: bool
    pair: str
    seat: str
    waits: float | None  # time since which they have waited for a partner
    bonus: str
    code: str
    joined: float
    seen: float
    finished: float | None


class BrowserEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event in a participant's browser."""

    kind: Kind
    detail: str = ""
    page: str = ""


class BrowserEvents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The events in one request."""

    events: tuple[BrowserEvent, ...]


class StoredEvent(msgspec.Struct, frozen=True):
    """A stored browser event."""

    n: int
    page: str
    kind: str
    detail: str
    made: float


class Secrets(msgspec.Struct, frozen=True):
    """The secrets of a study: the salt of exported ids and the key of tokens and forms."""

    salt: str
    sign: str

    def export_id(self, person: Person) -> str:
        """Return the exported id, a hash; without the salt, nobody can check whether it belongs to
        a guessed platform id."""
        return _mac(self.salt, person.given or f"no id/{person.id}")[:20]

    def seat_token(self, person: str, round: int) -> str:
        """Return the token of a person's seat; it is derived, never stored."""
        return _mac(self.sign, f"seat/{person}/{round}")

    def withdrawn_mark(self, platform_id: str) -> str:
        """Return the keyed hash by which a withdrawn id is recognised; it is not the code of the
        exports."""
        return _mac(self.sign, f"withdrawn/{platform_id}")

    def resume_token(self, person: str, cookie: str) -> str:
        """Return the token of a link that moves a person to another browser.

        It depends on the stored cookie, so it is invalid once the person has moved.
        """
        return _mac(self.sign, f"resume/{person}/{cookie}")

    def form_token(self, cookie: str, platform_id: str | None = None) -> str:
        """Return the token of a browser's forms; a consent form's token also depends on the id in
        the link."""
        parts = ("form", cookie) if platform_id is None else ("consent", cookie, platform_id)
        return _mac(self.sign, msgspec.json.encode(parts).decode())  # unambiguous


def _mac(key: str, text: str) -> str:
    return hmac.new(bytes.fromhex(key), text.encode(), sha256).hexdigest()


# --- the study itself ---------------------------------------------------------------------------


async def prepare(database: Database, study: HumanStudy) -> Secrets:
    """Create or load the secrets of a study; raises BadInput if its design changed."""
    design = study.design()

    def make(tx: Transaction) -> Secrets | None:
        row = tx.first("SELECT salt, sign, design FROM study_secrets WHERE study = ?", study.name)
        if row is None:
            new_secrets = Secrets(secrets.token_hex(32), secrets.token_hex(32))
            values = (study.name, new_secrets.salt, new_secrets.sign, design)
            tx.execute("INSERT INTO study_secrets VALUES (?, ?, ?, ?)", *values)
            return new_secrets
        if row[2] != design:
            if everybody(tx, study.name):
                return None
            tx.execute("UPDATE study_secrets SET design = ? WHERE study = ?", design, study.name)
        return Secrets(row[0], row[1])

    if (study_secrets := await database.run(make)) is None:
        raise BadInput(
            f"The design of study {study.name!r} changed after people had begun it; use another "
            "name or undo the change (participants, limits, texts and links may change)."
        )
    return study_secrets


async def load_secrets(database: Database, study: HumanStudy) -> Secrets:
    """Load the secrets of a study that has begun, without writing."""
    row = await database.run(
        Transaction.first, "SELECT salt, sign FROM study_secrets WHERE study = ?", study.name
    )
    if row is None:
        raise BadInput(f"The study {study.name!r} has never been run with this database.")
    return Secrets(row[0], row[1])


def count(tx: Transaction, study: str, counter: str) -> None:
    """Increment a counter of the study."""
    if not tx.execute(
        "UPDATE study_counts SET n = n + 1 WHERE study = ? AND what = ?", study, counter
    ):
        tx.execute("INSERT INTO study_counts VALUES (?, ?, 1)", study, counter)


def counts(tx: Transaction, study: str) -> dict[str, int]:
    return dict(tx.all("SELECT what, n FROM study_counts WHERE study = ?", study))


# --- people -------------------------------------------------------------------------------------


def _person(row: Row) -> Person:
    columns = dict(zip(Person.__struct_fields__, row, strict=True))
    return Person(**{**columns, "reverse": bool(columns["reverse"])})


def by_cookie(tx: Transaction, study: str, cookie: str) -> Person | None:
    return _find_person(tx, "study = ? AND cookie = ?", study, cookie)


def by_given(tx: Transaction, study: str, platform_id: str) -> Person | None:
    return _find_person(tx, "study = ? AND given = ?", study, platform_id)


def by_id(tx: Transaction, person: str) -> Person | None:
    return _find_person(tx, "id = ?", person)


def _find_person(tx: Transaction, clause: str, *values: str) -> Person | None:
    row = tx.first(f"SELECT {COLUMNS} FROM people WHERE {clause}", *values)
    return None if row is None else _person(row)


def everybody(tx: Transaction, study: str) -> list[Person]:
    rows = tx.all(f"SELECT {COLUMNS} FROM people WHERE study = ? ORDER BY number", study)
    return [_person(row) for row in rows]


def give_cookie(tx: Transaction, person: str, cookie: str) -> None:
    """Move a person to another browser; the earlier one loses access."""
    tx.execute("UPDATE people SET cookie = ? WHERE id = ?", cookie, person)


def resume_token(tx: Transaction, study_secrets: Secrets, person: str) -> str:
    """Return the token of the link by which a person continues in another browser."""
    row = tx.first("SELECT cookie FROM people WHERE id = ?", person)
    return study_secrets.resume_token(person, row[0] if row else "")


def is_full(tx: Transaction, study: HumanStudy, people: Sequence[Person]) -> bool:
    """Return whether all places are taken and every group is complete.

    In a condition of pairs, one place may remain after a member of a pair dropped out near the end
    of the study. The person who takes it needs a partner, who is then admitted beyond the target.
    """
    places_taken = sum(p.state in COUNTED for p in people)
    return places_taken >= study.participants and not _open_group(tx, study)


def join(tx: Transaction, study: HumanStudy, cookie: str, platform_id: str) -> Person | None:
    """Add and assign a person; return None if the study is full or the person joined before."""
    lapse(tx, study)
    people = everybody(tx, study.name)
    if is_full(tx, study, people) or by_cookie(tx, study.name, cookie) is not None:
        return None
    if platform_id and by_given(tx, study.name, platform_id) is not None:
        return None
    joined_row = tx.first(
        "SELECT n FROM study_counts WHERE study = ? AND what = 'joined'", study.name
    )
    # includes those who withdrew, so a number is used once
    number = joined_row[0] if joined_row else 0
    count(tx, study.name, "joined")
    filled = [Assignment(p.condition, p.row, p.reverse) for p in people if p.state in COUNTED]
    place = assign_place(study, filled, number, _open_group(tx, study))
    now, id = time.time(), secrets.token_hex(16)
    tx.execute(
        "INSERT INTO people (id, study, given, cookie, number, state, cell, design, reverse, "
        "joined, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(id, study.name, platform_id, cookie, number, ACTIVE, place.condition, place.row),
        *(int(place.reverse), now, now),
    )
    return by_cookie(tx, study.name, cookie)


def _open_group(tx: Transaction, study: HumanStudy) -> list[str]:
    """Return the conditions in which one more person completes a group; empty if there are none.

    The condition whose first member joined earliest comes first. Conditions that cannot be
    distinguished before the first game form groups together.
    """
    now = time.time()
    alone = tx.all(
        f"SELECT cell FROM people WHERE study = ? AND state = ? AND {UNGROUPED} "
        "AND seen >= CASE WHEN waits IS NULL THEN ? ELSE ? END ORDER BY number",
        *(study.name, ACTIVE, now - READING, now - HEARTBEAT),
    )
    for (name,) in alone:
        condition = study.condition(name)
        alike = [c.name for c in study.interchangeable(condition)]
        if sum(cell in alike for (cell,) in alone) % len(condition.people):
            return alike
    return []


def lapse(tx: Transaction, study: HumanStudy) -> None:
    """Mark as lapsed all people who were inactive for too long and are not in a match."""
    for id in overdue(tx, study):
        set_state(tx, id, LAPSED)


def everybody_now(tx: Transaction, study: HumanStudy, read_only: bool) -> list[Person]:
    """Return all people after marking inactive ones as lapsed.

    A database that is only read keeps the old state; the returned people have the new one.
    """
    if not read_only:
        lapse(tx, study)
    lapsed = set(overdue(tx, study))
    return [
        msgspec.structs.replace(person, state=LAPSED) if person.id in lapsed else person
        for person in everybody(tx, study.name)
    ]


def overdue(tx: Transaction, study: HumanStudy) -> list[str]:
    """Return the active people who were inactive for too long and are not in a match."""
    long_ago = time.time() - 60 * study.limits.idle_minutes
    idle = tx.all(
        "SELECT id FROM people WHERE study = ? AND state = ? AND seen < ?",
        *(study.name, ACTIVE, long_ago),
    )
    at_table = (
        "SELECT t.match FROM people_tables t JOIN matches m ON m.id = t.match "
        "LEFT JOIN answers a ON a.match = t.match "
        "WHERE t.person = ? AND (m.ended = 0 OR a.made >= ?)"
    )
    return [id for (id,) in idle if tx.first(at_table, id, long_ago) is None]


def see(tx: Transaction, person: str) -> None:
    tx.execute("UPDATE people SET seen = ? WHERE id = ?", time.time(), person)


def set_state(tx: Transaction, person: str, state: str) -> None:
    tx.execute("UPDATE people SET state = ? WHERE id = ? AND state = ?", state, person, ACTIVE)


def finish(tx: Transaction, person: str, state: str, bonus: str, code: str) -> None:
    """Store the final state, bonus and code, unless they are already stored."""
    tx.execute(
        "UPDATE people SET state = ?, bonus = ?, code = ?, finished = ?, seen = ? "
        "WHERE id = ? AND state = ?",
        *(state, bonus, code, time.time(), time.time(), person, ACTIVE),
    )


# --- answers ------------------------------------------------------------------------------------


def given_by(tx: Transaction, person: str) -> dict[str, Any]:
    """Return a person's answers by step."""
    rows = tx.all("SELECT step, value FROM people_steps WHERE person = ?", person)
    return {step: msgspec.json.decode(value) for step, value in rows}


def answer_times(tx: Transaction, person: str) -> dict[str, float]:
    """Return the Unix times at which a person's answers were stored, by step."""
    return dict(tx.all("SELECT step, made FROM people_steps WHERE person = ?", person))


def note(tx: Transaction, person: str, step: str, value: Any) -> bool:
    """Store an answer unless the step has one; return whether it was stored."""
    see(tx, person)
    return note_quietly(tx, person, step, value)


def note_quietly(tx: Transaction, person: str, step: str, value: Any) -> bool:
    """Store an answer as `note` does, but without marking the person as active."""
    if by_id(tx, person) is None:
        return False
    text = msgspec.json.encode(value).decode()
    rows_stored = tx.execute(
        "INSERT INTO people_steps (person, step, value, made) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (person, step) DO NOTHING",
        *(person, step, text, time.time()),
    )
    return rows_stored > 0


def table_of(tx: Transaction, person: str, round: int) -> tuple[str, str] | None:
    """Return the match and seat of a person's round, or None before it opens."""
    row = tx.first(
        "SELECT match, seat FROM people_tables WHERE person = ? AND round = ?", person, round
    )
    return None if row is None else (row[0], row[1])


def sit_down(tx: Transaction, match: str, round: int, people: Mapping[str, str]) -> None:
    """Store the match of a round; raises DuplicateRow if a person has one already."""
    for seat, person in people.items():
        tx.execute("INSERT INTO people_tables VALUES (?, ?, ?, ?)", person, round, match, seat)


def tables(tx: Transaction, person: str) -> list[tuple[int, str, str]]:
    """Return a person's rounds as (round, match, seat)."""
    rows = tx.all(
        "SELECT round, match, seat FROM people_tables WHERE person = ? ORDER BY round", person
    )
    return [(row[0], row[1], row[2]) for row in rows]


def has_answered(tx: Transaction, match: str, seat: str) -> bool:
    """Return whether a seat of a match has answered something."""
    by = "SELECT 1 FROM answers WHERE match = ? AND seat = ? LIMIT 1"
    return tx.first(by, match, seat) is not None


def at_match(tx: Transaction, match: str) -> list[tuple[str, int, str]]:
    """Return the people in a match as (person, round, seat)."""
    rows = tx.all("SELECT person, round, seat FROM people_tables WHERE match = ?", match)
    return [(row[0], row[1], row[2]) for row in rows]


# --- browser events -----------------------------------------------------------------------------


def keep_events(tx: Transaction, person: str, events: tuple[BrowserEvent, ...]) -> None:
    """Append events of a person, up to `MOST_EVENTS`."""
    row = tx.first("SELECT COUNT(*) FROM people_events WHERE person = ?", person)
    n, now = (row[0] if row else 0), time.time()
    for event in events[: MOST_EVENTS - n]:
        tx.execute(
            "INSERT INTO people_events (person, n, page, kind, detail, made) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            *(person, n, event.page[:60], event.kind, event.detail[:200], now),
        )
        n += 1


def events_of(tx: Transaction, person: str) -> list[StoredEvent]:
    """Return a person's events in order."""
    rows = tx.all(
        "SELECT n, page, kind, detail, made FROM people_events WHERE person = ? ORDER BY n", person
    )
    return [StoredEvent(*row) for row in rows]


def event_counts(tx: Transaction, study: str) -> dict[str, dict[str, int]]:
    """Return, for each person, the number of events of each kind."""
    counts_by_person: dict[str, dict[str, int]] = {}
    for person, kind, n in tx.all(
        "SELECT e.person, e.kind, COUNT(*) FROM people_events e JOIN people p ON p.id = e.person "
        "WHERE p.study = ? GROUP BY e.person, e.kind",
        study,
    ):
        counts_by_person.setdefault(person, {})[kind] = n
    return counts_by_person


# --- groups -------------------------------------------------------------------------------------


def find_group(tx: Transaction, study: HumanStudy, person: Person, game: int = 0) -> dict[str, str]:
    """Return the group of a person by seat; empty while too few people wait.

    People who have waited longest come first, from all conditions that look alike so far. In a
    condition with `rematch`, a person has a new partner for every game.
    """
    now = time.time()
    if game and study.condition(person.condition).rematch:
        return _find_next_partner(tx, study, person, game)
    if person.pair:
        return dict(tx.all("SELECT seat, id FROM people WHERE pair = ?", person.pair))
    tx.execute("UPDATE people SET waits = COALESCE(waits, ?), seen = ? WHERE id = ?",
             now, now, person.id)  # fmt: skip
    alike = study.interchangeable(study.condition(person.condition))
    rows = tx.all(
        f"SELECT {COLUMNS} FROM people WHERE study = ? AND state = ? AND {UNGROUPED} "
        f"AND cell IN ({', '.join('?' * len(alike))}) AND waits IS NOT NULL AND seen >= ? "
        "ORDER BY waits, number",
        *(study.name, ACTIVE, *(c.name for c in alike), now - HEARTBEAT),
    )
    size = len(alike[0].people)
    if len(rows) < size:
        return {}
    group = form_group(tx, study, [_person(row) for row in rows[:size]])
    return group if person.id in group.values() else {}


def _find_next_partner(
    tx: Transaction, study: HumanStudy, person: Person, game: int
) -> dict[str, str]:
    """Return the pair of a person for a game after the first; empty while nobody suitable waits.

    Strangers come first, in order of waiting. After half of the longest wait, a former partner will
    do.
    """
    now = time.time()
    if person.pair.endswith(f".{game}"):
        return dict(tx.all("SELECT seat, id FROM people WHERE pair = ?", person.pair))
    tx.execute("UPDATE people SET waits = COALESCE(waits, ?), seen = ? WHERE id = ?",
           now, now, person.id)  # fmt: skip
    rows = tx.all(
        f"SELECT {COLUMNS} FROM people WHERE study = ? AND state = ? AND cell = ? AND id <> ? "
        "AND waits IS NOT NULL AND seen >= ? "
        "AND EXISTS (SELECT 1 FROM people_steps s WHERE s.person = people.id AND s.step = ?) "
        "AND NOT EXISTS (SELECT 1 FROM people_steps s WHERE s.person = people.id AND s.step = ?) "
        "AND NOT EXISTS (SELECT 1 FROM people_tables t WHERE t.person = people.id "
        "AND t.round = ?) ORDER BY waits, number",
        *(study.name, ACTIVE, person.condition, person.id, now - HEARTBEAT),
        *(f"round-{game - 1}", f"round-{game}", game),
    )
    waiting = [_person(row) for row in rows]
    former_partners = {
        id
        for (id,) in tx.all(
            "SELECT b.person FROM people_tables a JOIN people_tables b ON a.match = b.match "
            "WHERE a.person = ?",
            person.id,
        )
    }
    strangers = [candidate for candidate in waiting if candidate.id not in former_partners]
    since = min([now, *(p.waits for p in (person, *waiting) if p.waits is not None)])
    if not strangers and now - since > 30 * study.limits.pair_minutes:
        strangers = waiting
    if not strangers:
        return {}
    pair = f"{secrets.token_hex(8)}.{game}"
    members = (strangers[0], person)
    first = min(member.number for member in members)
    seats = Stream(study.seed, "seats", first, game).shuffled(
        study.condition(person.condition).people
    )
    group = {}
    for member, seat in zip(members, seats, strict=True):
        tx.execute(
            "UPDATE people SET pair = ?, seat = ?, waits = NULL WHERE id = ?",
            *(pair, seat, member.id),
        )
        group[seat] = member.id
    return group


def form_group(tx: Transaction, study: HumanStudy, members: Sequence[Person]) -> dict[str, str]:
    """Form a group, assign it to a condition, and return its members by seat.

    Conditions and instance orders are balanced over groups, option orders over their members. Seats
    are drawn with the study's seed. A single member plays with bots.
    """
    first, pair = members[0], secrets.token_hex(8)
    alike = [c.name for c in study.interchangeable(study.condition(first.condition))]
    filled = [
        Assignment(p.condition, p.row, p.reverse)
        for p in everybody(tx, study.name)
        if p.pair and p.state in COUNTED
    ]
    place = assign_place(study, filled, first.number, alike)
    condition = study.condition(place.condition)
    drawn_seats = Stream(study.seed, "seats", first.number).shuffled(condition.people)
    if condition.rematch:
        for member in members:  # the wait for the next partner begins anew
            tx.execute("UPDATE people SET waits = NULL WHERE id = ?", member.id)
    group = {}
    for member, seat in zip(members, drawn_seats, strict=False):
        member_place = assign_place(study, filled, member.number, (place.condition,), place.row)
        filled.append(member_place)
        tx.execute(
            "UPDATE people SET pair = ?, seat = ?, cell = ?, design = ?, reverse = ? WHERE id = ?",
            *(
                pair,
                seat,
                member_place.condition,
                member_place.row,
                int(member_place.reverse),
                member.id,
            ),
        )
        group[seat] = member.id
    return group


def join_model(tx: Transaction, study: HumanStudy, person: Person) -> bool:
    """Draw and store whether a model takes the other seats of a person's group.

    The probability is the number of groups that still lack a model divided by the number of people
    without a group, so that the planned number is reached; the draw depends on the study's seed.
    """
    people = [p for p in everybody(tx, study.name) if p.state in COUNTED and p.pair]
    used = Counter(given_by(tx, p.id).get(MODEL) for p in people)
    models_left = [m.model for m in study.models for _ in range(m.participants - used[m.model])]
    draws = Stream(study.seed, "models", person.number)
    if draws.below(max(len(models_left), study.participants - len(people))) >= len(models_left):
        return False
    tx.execute("UPDATE people SET waits = ? WHERE id = ?", time.time(), person.id)
    form_group(tx, study, [person])
    return note(tx, person.id, MODEL, draws.pick(models_left))


# --- practice and chat --------------------------------------------------------------------------


def practice_round(number: int) -> int:
    """Return the round number, below 0, under which a practice match is stored."""
    return -1 - number


class ChatView(msgspec.Struct, frozen=True):
    """A chat as one member of the group sees it."""

    said: tuple[tuple[str, str], ...]  # "you", or the number of another member, and the message
    left: int | None  # seconds until it ends; None until all members have come
    ready: bool  # whether the member wants to go on


def _members(tx: Transaction, person: Person) -> list[str]:
    rows = tx.all(
        "SELECT id FROM people WHERE pair = ? AND state = ? ORDER BY number", person.pair, ACTIVE
    )
    return [row[0] for row in rows]


def _answer_times(tx: Transaction, step: str, people: Sequence[str]) -> list[float]:
    """Return the times at which these people stored an answer to a step."""
    rows = (
        tx.first("SELECT made FROM people_steps WHERE person = ? AND step = ?", id, step)
        for id in people
    )
    return [row[0] for row in rows if row is not None]


def _chat_began(tx: Transaction, person: Person, k: int) -> float | None:
    row = tx.first("SELECT made FROM people_chats WHERE pair = ? AND round = ? AND n = 0",
                 person.pair, k)  # fmt: skip
    return None if row is None else row[0]


def chat_goes_on(tx: Transaction, person: Person, k: int, seconds: float, most_wait: float) -> bool:
    """Return whether a chat is still open; when it ends, it is noted as done for every member.

    The chat begins when all members have arrived, or `most_wait` seconds after the first arrived.
    It ends after `seconds`, or when all members want to go on.
    """
    note_quietly(tx, person.id, f"{CHATTING}{k}", True)
    members, now = _members(tx, person), time.time()
    came = _answer_times(tx, f"{CHATTING}{k}", members)
    began = _chat_began(tx, person, k)
    if began is None and (len(came) == len(members) or now > min(came) + most_wait):
        began = now
        tx.execute("INSERT INTO people_chats VALUES (?, ?, 0, '', '', ?)", person.pair, k, now)
    ready = len(_answer_times(tx, f"{READY}{k}", members)) == len(members)
    if began is not None and (ready or now > began + seconds):
        for id in members:
            note_quietly(tx, id, f"chat-{k}", True)
        return False
    return True


def chat_view(tx: Transaction, person: Person, k: int, seconds: float) -> ChatView:
    """Return the messages and the time left, as one member sees them."""
    began = _chat_began(tx, person, k)
    rows = tx.all(
        "SELECT person, text FROM people_chats WHERE pair = ? AND round = ? AND n > 0 ORDER BY n",
        *(person.pair, k),
    )
    others = [id for id in _members(tx, person) if id != person.id]
    numbered = {id: str(i + 1) for i, id in enumerate(others)}
    messages = tuple(
        ("you" if id == person.id else numbered.get(id, "1"), text) for id, text in rows
    )
    seconds_left = None if began is None else max(0, round(began + seconds - time.time()))
    return ChatView(messages, seconds_left, bool(_answer_times(tx, f"{READY}{k}", [person.id])))


def say(tx: Transaction, person: Person, k: int, text: str) -> bool:
    """Store a message; return False if the chat is over or the person has sent too many
    messages."""
    if f"chat-{k}" in given_by(tx, person.id) or _chat_began(tx, person, k) is None:
        return False
    rows = tx.all("SELECT n, person FROM people_chats WHERE pair = ? AND round = ?", person.pair, k)
    if sum(row[1] == person.id for row in rows) >= MOST_MESSAGES:
        return False
    n = 1 + max((row[0] for row in rows), default=0)
    tx.execute("INSERT INTO people_chats VALUES (?, ?, ?, ?, ?, ?)",
           person.pair, k, n, person.id, text, time.time())  # fmt: skip
    return True


def chats_of(tx: Transaction, person: Person) -> list[dict[str, Any]]:
    """Return the chat messages of a person for the export."""
    rows = tx.all(
        "SELECT c.round, c.n, c.text, c.made - s.made FROM people_chats c JOIN people_chats s "
        "ON s.pair = c.pair AND s.round = c.round AND s.n = 0 "
        "WHERE c.person = ? ORDER BY c.round, c.n",
        person.id,
    )
    return [
        {"before_game": k + 1, "number": n, "seconds": round(delay, 3), "text": text}
        for k, n, text, delay in rows
    ]


# --- withdrawal ---------------------------------------------------------------------------------


def part(tx: Transaction, match: str, person: str, outcomes: Mapping[str, RoundOutcome]) -> None:
    """Detach a match from all of its participants, because one of them has withdrawn.

    For the others, the outcome of the round is stored first, unless it is already stored.
    """
    for member, k, seat in at_match(tx, match):
        if member != person:
            came = outcomes.get(seat, RoundOutcome("partner left"))
            note_quietly(tx, member, f"round-{k}", msgspec.to_builtins(came))
    tx.execute("DELETE FROM people_tables WHERE match = ?", match)


def readmit(tx: Transaction, person: str) -> None:
    """Make a lapsed person active again."""
    tx.execute(
        "UPDATE people SET state = ?, seen = ?, waits = NULL WHERE id = ? AND state IN (?, ?)",
        *(ACTIVE, time.time(), person, LAPSED, ACTIVE),
    )


def exclude(tx: Transaction, person: str, reason: str) -> None:
    """Mark a finished person as excluded; the place is given to another person."""
    note_quietly(tx, person, EXCLUDED_BY, reason)
    tx.execute("UPDATE people SET state = ? WHERE id = ?", EXCLUDED, person)


def is_withdrawn(tx: Transaction, study: str, mark: str) -> bool:
    """Return whether the id with this mark has withdrawn."""
    by = "SELECT 1 FROM study_withdrawn_ids WHERE study = ? AND mark = ?"
    return tx.first(by, study, mark) is not None


def erase(tx: Transaction, study: str, person: Person, code: str, mark: str) -> None:
    """Delete all rows of a person and count the withdrawal.

    The mark of the platform id remains, so that the id is not asked for consent again.

    If the data may have been exported, the person's exported code is kept, so that the next export
    can list it for deletion from earlier copies.
    """
    exported = tx.first("SELECT made FROM study_exports WHERE study = ?", study)
    if exported is not None and exported[0] >= person.joined:
        tx.execute(
            "INSERT INTO study_withdrawn VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            *(study, code, time.time()),
        )
    for table in ("people_steps", "people_tables", "people_events", "people_chats"):
        tx.execute(f"DELETE FROM {table} WHERE person = ?", person.id)
    tx.execute("DELETE FROM people WHERE id = ?", person.id)
    if person.given:
        tx.execute(
            "INSERT INTO study_withdrawn_ids VALUES (?, ?) ON CONFLICT DO NOTHING", study, mark
        )
    count(tx, study, WITHDRAWN)


def note_export(tx: Transaction, study: str) -> None:
    """Store the time of the latest export."""
    tx.execute(
        "INSERT INTO study_exports VALUES (?, ?) ON CONFLICT (study) DO UPDATE SET made = ?",
        *(study, (now := time.time()), now),
    )


def withdrawn_codes(tx: Transaction, study: str) -> list[tuple[str, float]]:
    """Return the exported codes and times of people who withdrew after an export."""
    return [
        (row[0], row[1])
        for row in tx.all(
            "SELECT participant, made FROM study_withdrawn WHERE study = ? ORDER BY made", study
        )
    ]


def forget_codes(tx: Transaction, study: str) -> None:
    """Delete the list of withdrawn participants' codes, once their data have been removed from
    earlier copies."""
    tx.execute("DELETE FROM study_withdrawn WHERE study = ?", study)


def find_one(tx: Transaction, study: str, study_secrets: Secrets, text: str) -> Person:
    """Return the participant with a platform id, an exported code or a completion code.

    The first eight characters of an exported code are enough, as the dashboard shows them.

    Raises:
        BadInput: No participant, or more than one, matches.
    """
    if not text:
        raise BadInput("Give a platform id, a participant code or a completion code.")
    if (person := by_given(tx, study, text)) is not None:
        return person
    people = everybody(tx, study)
    matches = [p for p in people if len(text) >= 8 and study_secrets.export_id(p).startswith(text)]
    matches = matches or [p for p in people if p.code == text]
    if len(matches) != 1:
        count_text = f"{len(matches)} participants have" if matches else "No participant has"
        raise BadInput(f"{count_text} the id or code {text[:80]!r}; use the id of the platform.")
    return matches[0]


def wipe(database: Database) -> None:
    """Remove the remains of deleted rows from the database files, as far as the database allows.

    The rows are deleted already, so an error is logged and not shown to the participant.
    """
    try:
        if isinstance(database.engine, Sqlite):
            _empty_log(database.engine)
        else:
            _vacuum(database.engine)
    except Exception as error:
        LOG.error("deleted rows may still be present in the database files: %s", error)


def _empty_log(engine: Sqlite) -> None:
    with closing(sqlite3.connect(engine.path, timeout=30)) as db:
        busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        LOG.error("the write-ahead log is in use and keeps deleted rows until the next start")


def _vacuum(engine: Postgres) -> None:
    import psycopg

    with psycopg.connect(engine.address, autocommit=True) as db:
        for table in (
            "people",
            "people_steps",
            "people_tables",
            "people_events",
            "people_chats",
            "study_withdrawn",
            "answers",
            "matches",
            "seats",
        ):
            db.execute(f"VACUUM {table}")
