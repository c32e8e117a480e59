"""Export of a study: episodes for the store, rows and tables for analysis.

Exports identify people by a salted hash; the salt never leaves the database.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from sally import store
from sally.core.log.events import Episode, to_line
from sally.web.database import Transaction
from sally.web.live.answers import LookUp, Stop, from_text
from sally.web.study import participants
from sally.web.study.participants import Person
from sally.web.study.running import RunningStudy
from sally.web.study.steps import ADVANCED, FALLBACK, MODEL, REMOVED
from sally.web.study.tables import ExportedPerson, files_of, tables

FILE = "people.jsonl"  # in the store; rewritten by each export, without withdrawn participants
ROWS = "people.json"
DATA = "psych-ds"  # folder of the tables


# --- episodes and rows --------------------------------------------------------------------------


async def exported(here: RunningStudy) -> tuple[list[Episode], list[dict[str, Any]]]:
    """Return all finished episodes and one row per participant."""
    async with here.erasing:
        episodes, people = await _gathered(here)
    return episodes, [person.row for person in people]


async def tabled(here: RunningStudy) -> dict[str, bytes]:
    """Return the files of the study's Psych-DS folder."""
    async with here.erasing:
        episodes, people = await _gathered(here)
    return files_of(here.study, tables(here.study, people, episodes, await withdrawn(here)))


async def withdrawn(here: RunningStudy) -> list[tuple[str, float]]:
    """Return the codes of people who withdrew after an export, to be deleted from copies."""
    return await here.database.run(participants.withdrawn_codes, here.study.name)


async def note_export(here: RunningStudy) -> None:
    """Record that data are exported; this must be called before they leave the server."""
    await here.database.run(participants.note_export, here.study.name)


async def _gathered(here: RunningStudy) -> tuple[list[Episode], list[ExportedPerson]]:
    people = await here.database.run(participants.everybody, here.study.name)
    over = await here.database.run(
        Transaction.all, "SELECT id FROM matches WHERE owner = ? AND ended = 1", here.owner
    )
    ended = {row[0] for row in over}
    episodes: dict[str, Episode] = {}
    rows: list[ExportedPerson] = []
    for person in people:
        said = await here.database.run(participants.chats_of, person)
        sat = await here.database.run(participants.tables, person.id)
        given = await here.database.run(participants.given_by, person.id)
        played = []
        for k, match, seat in sat:
            if match not in ended:
                continue  # in progress, and only its own server may load it
            found = episodes.get(match) or await here.live_matches.episode(match)
            if found is None:
                continue
            seconds = await here.database.run(response_times, match, seat)
            episodes[match] = _with_person(here, found, person, seat, k, seconds)
            played.append({"round": k, "episode": found.id, "instance": found.setup.instance.id})
        rows.append(await _person(here, person, _row(here, person, given, played, said)))
    return list(episodes.values()), rows


Timed = list[tuple[tuple[int, str, str], float]]  # turn, probe, about; seconds


def response_times(tx: Transaction, match: str, seat: str) -> Timed:
    """Return the response time of each answer of a seat.

    The browser measures the time from the display of the question, after the rules of the game were
    read. If that time is missing, or longer than the time that the server measured, the server's
    time is used: from the start of the turn, whether or not a partner answered first, or from the
    seat's previous answer in the turn, because probes and the move are asked one after another.
    """
    made = tx.all("SELECT seat, made, entry FROM answers WHERE match = ? ORDER BY n", match)
    began = tx.one("SELECT made FROM matches WHERE id = ?", match)
    last = opened = mine = began[0] if began else 0.0
    now, found = -1, Timed()
    for who, when, text in made:
        stored = from_text(text)
        if isinstance(stored, Stop):
            continue
        turn, _, probe, about = stored.ask
        if turn != now:
            now, opened = turn, last
        if who == seat and not isinstance(stored, LookUp):
            most = when - max(opened, mine)
            shown = most if stored.shown_seconds is None else min(stored.shown_seconds, most)
            found.append(((turn, probe, about), round(shown, 3)))
            mine = when
        last = when
    return found


def _with_person(
    here: RunningStudy,
    episode: Episode,
    person: Person,
    seat: str,
    k: int,
    asked: Timed,
) -> Episode:
    """Return the episode with data about a participant added to its `used` field."""
    people = dict(episode.used.get("people", {}))
    people[seat] = {
        "participant": here.secrets.exported(person),
        "round": k,
        "option_order": "reversed" if person.reverse else "as given",
        "words": here.study.pack_of(episode.setup.instance.game),
        "state": person.state,
        "seconds": [seconds for _, seconds in asked],
        "asked": asked,
    }
    return msgspec.structs.replace(episode, used={**episode.used, "people": people})


async def _person(here: RunningStudy, person: Person, row: dict[str, Any]) -> ExportedPerson:
    """Return the exported data of a participant: the row, with times and events added."""

    def look(tx: Transaction) -> ExportedPerson:
        steps: dict[str, float] = dict(
            tx.all("SELECT step, made FROM people_steps WHERE person = ?", person.id)
        )
        before = [made for step, made in steps.items() if step != "survey"]
        on_survey = (
            round(steps["survey"] - max(before), 3) if "survey" in steps and before else None
        )
        noted = [msgspec.structs.astuple(e) for e in participants.events_of(tx, person.id)]
        return ExportedPerson(row, person.joined, on_survey, noted)

    return await here.database.run(look)


def _row(
    here: RunningStudy,
    person: Person,
    given: dict[str, Any],
    played: list[dict[str, Any]],
    said: list[dict[str, Any]],
) -> dict[str, Any]:
    condition = here.study.condition(person.condition)
    ended = person.finished
    paired = person.pair and FALLBACK not in given and MODEL not in given
    return {
        "participant": here.secrets.exported(person),
        "session": here.study.session or None,
        "state": person.state,
        "condition": person.condition,
        "order": [p.instance.id for p in here.study.plan(condition, person.row)],
        "option_order": "reversed" if person.reverse else "as given",
        "pair": blake2b(person.pair.encode(), digest_size=8).hexdigest() if paired else None,
        "partner_model": given.get(MODEL),
        "fallback": given.get(FALLBACK),
        "minutes": round((ended - person.joined) / 60, 2) if ended else None,
        "bonus": person.bonus or None,
        "advanced": [k.removeprefix(ADVANCED) for k in given if k.startswith(ADVANCED)],
        "removed": given.get(REMOVED),
        "check": [given[key] for key in sorted(given) if key.startswith("check-")],
        "rounds": [given[key] for key in sorted(given, key=_number) if key.startswith("round-")],
        "episodes": played,
        "chat": said,
        "survey": given.get("survey"),
    }


def _number(key: str) -> int:
    tail = key.rpartition("-")[2]
    return int(tail) if tail.isdigit() else -1


async def put_into_store(here: RunningStudy, folder: Path) -> int:
    """Write the study's store, replacing an earlier export; return the number of episodes."""
    await note_export(here)
    plan = here.study.kept_plan
    store.claim(folder, store.Manifest(here.study.name, plan.asks))
    store.keep_people_plan(folder, plan)
    place = store.Folder(folder)
    async with here.erasing:  # held until written, so that no erased person reappears
        episodes, people = await _gathered(here)
        rows = [person.row for person in people]
        place.put(FILE, b"".join(map(to_line, episodes)))
        place.put(ROWS, msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n")
        found = tables(here.study, people, episodes, await withdrawn(here))
        for name, data in files_of(here.study, found).items():
            place.put(f"{DATA}/{name}", data)
    return len(episodes)
