"""Export of a study: episodes for the store, rows and tables for analysis.

Exports identify people by a salted hash; the salt never leaves the database.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from sally import store
from sally.core.errors import NotAsked
from sally.core.log.events import Episode, to_line
from sally.web.database import Transaction
from sally.web.live.answers import LookUp, Stop, from_text
from sally.web.study import participants
from sally.web.study.definition import Condition
from sally.web.study.participants import LAPSED, Person
from sally.web.study.running_study import RunningStudy
from sally.web.study.steps import (
    ADVANCED,
    AFTER_BLOCK,
    AFTER_GAME,
    BEFORE,
    EXCLUDED_BY,
    FALLBACK,
    MODEL,
    REMOVED,
    SURVEY,
    RoundOutcome,
    attention_counts,
    paid_games,
    partner_kind,
    rounds_in,
)
from sally.web.study.tables import ExportedPerson, files_of, tables, utc

LOG = logging.getLogger("sally.web")
AT_ONCE = 100  # finished matches read per call; the next call reads on
FILE = "people.jsonl"  # in the store; rewritten by each export, without withdrawn participants
ROWS = "people.json"
DATA = "psych-ds"  # folder of the tables


# --- episodes and rows --------------------------------------------------------------------------


async def episodes_and_rows(
    running_study: RunningStudy,
) -> tuple[list[Episode], list[dict[str, Any]]]:
    """Return all finished episodes and one row per participant."""
    async with running_study.erasing:
        episodes, people = await _gather(running_study)
    return episodes, [person.row for person in people]


async def psych_ds_files(running_study: RunningStudy) -> dict[str, bytes]:
    """Return the files of the study's Psych-DS folder."""
    async with running_study.erasing:
        episodes, people = await _gather(running_study)
    return files_of(
        running_study.study,
        tables(running_study.study, people, episodes, await withdrawn(running_study)),
    )


async def withdrawn(running_study: RunningStudy) -> list[tuple[str, float]]:
    """Return the codes of people who withdrew after an export, to be deleted from copies."""
    return await running_study.database.run(participants.withdrawn_codes, running_study.study.name)


async def note_export(running_study: RunningStudy) -> None:
    """Record that data are exported; this must be called before they leave the server."""
    await running_study.database.run(participants.note_export, running_study.study.name)


async def _gather(running_study: RunningStudy) -> tuple[list[Episode], list[ExportedPerson]]:
    people = await running_study.database.run(
        participants.everybody_now, running_study.study, running_study.database.read_only
    )
    ended_rows = await running_study.database.run(
        Transaction.all, "SELECT id FROM matches WHERE owner = ? AND ended = 1", running_study.owner
    )
    ended = {row[0] for row in ended_rows}
    episodes: dict[str, Episode] = {}
    rows: list[ExportedPerson] = []
    for person in people:
        messages = await running_study.database.run(participants.chats_of, person)
        sat = await running_study.database.run(participants.tables, person.id)
        answers = await running_study.database.run(participants.given_by, person.id)
        stored_times = await running_study.database.run(participants.answer_times, person.id)
        played = []
        for k, match, seat in sat:
            if match not in ended:
                continue  # in progress, and only its own server may load it
            episode = episodes.get(match) or await running_study.live_matches.episode(match)
            if episode is None:
                continue
            times = await running_study.database.run(response_times, match, seat)
            episodes[match] = _with_person(running_study, episode, person, seat, k, times)
            played.append(
                {"round": k, "episode": episode.id, "instance": episode.setup.instance.id}
            )
        condition = running_study.study.condition(person.condition)
        rounds = (
            await running_study.rounds_played(person)  # as payments.csv counts them
            if person.state == LAPSED
            else rounds_in(running_study.study, condition, answers)
        )
        row = _row(running_study, person, answers, rounds, stored_times, played, messages)
        rows.append(await _person(running_study, person, row))
    return list(episodes.values()), rows


async def finished_episodes(running_study: RunningStudy) -> list[Episode]:
    """Return the episodes of finished matches with the codes and times of their participants,
    except those of people who withdrew; a call reads at most `AT_ONCE` new ones."""
    database, finished = running_study.database, running_study.finished
    rows = await database.run(
        Transaction.all,
        "SELECT id FROM matches WHERE owner = ? AND ended = 1 ORDER BY made",
        running_study.owner,
    )
    ids = [row[0] for row in rows]
    for id in finished.keys() - set(ids):
        del finished[id]
    new = [id for id in ids if id not in finished and id not in running_study.unreadable]
    for id in new[:AT_ONCE]:
        try:
            episode = await running_study.live_matches.episode(id)
        except NotAsked as error:
            running_study.unreadable.add(id)
            LOG.error("match %s cannot be shown: %s", id, error)
            continue
        for person_id, k, seat in await database.run(participants.at_match, id):
            person = await database.run(participants.by_id, person_id)
            times = await database.run(response_times, id, seat)
            if episode is not None and person is not None:
                episode = _with_person(running_study, episode, person, seat, k, times)
        if episode is not None:
            finished[id] = episode
    return [finished[id] for id in ids if id in finished]


class TimedAnswer(msgspec.Struct, frozen=True):
    """The response time of an answer, and when it was stored."""

    ask: tuple[int, str, str]  # turn, probe, about
    seconds: float
    stored_at: float  # Unix time


def response_times(tx: Transaction, match: str, seat: str) -> list[TimedAnswer]:
    """Return the response time of each answer of a seat.

    The browser measures the time from the display of the question, after the rules of the game were
    read. If that time is missing, or longer than the time that the server measured, the server's
    time is used: from the start of the turn, whether or not a partner answered first, or from the
    seat's previous answer in the turn, because probes and the move are asked one after another.
    """
    answer_rows = tx.all("SELECT seat, made, entry FROM answers WHERE match = ? ORDER BY n", match)
    began = tx.first("SELECT made FROM matches WHERE id = ?", match)
    last = opened = own_last = began[0] if began else 0.0
    now, times = -1, list[TimedAnswer]()
    for answering_seat, answered_at, text in answer_rows:
        stored = from_text(text)
        if isinstance(stored, Stop):
            continue
        turn, _, probe, about = stored.ask
        if turn != now:
            now, opened = turn, last
        if answering_seat == seat and not isinstance(stored, LookUp):
            longest = answered_at - max(opened, own_last)
            seconds = (
                longest if stored.shown_seconds is None else min(stored.shown_seconds, longest)
            )
            times.append(TimedAnswer((turn, probe, about), round(seconds, 3), answered_at))
            own_last = answered_at
        last = answered_at
    return times


def _with_person(
    running_study: RunningStudy,
    episode: Episode,
    person: Person,
    seat: str,
    k: int,
    times: Sequence[TimedAnswer],
) -> Episode:
    """Return the episode with data about a participant added to its `used` field."""
    people = dict(episode.used.get("people", {}))
    people[seat] = {
        "participant": running_study.secrets.export_id(person),
        "round": k,
        "option_order": "reversed" if person.reverse else "as given",
        "words": running_study.study.pack_of(episode.setup.instance.game),
        "state": person.state,
        "seconds": [answer.seconds for answer in times],
        "asked": [(answer.ask, answer.seconds) for answer in times],
        "answered": [utc(answer.stored_at) for answer in times],
    }
    return msgspec.structs.replace(episode, used={**episode.used, "people": people})


async def _person(
    running_study: RunningStudy, person: Person, row: dict[str, Any]
) -> ExportedPerson:
    """Return the exported data of a participant: the row, with times and events added."""

    def look(tx: Transaction) -> ExportedPerson:
        steps = participants.answer_times(tx, person.id)
        earlier_times = [stored_at for step, stored_at in steps.items() if step != "survey"]
        on_survey = (
            round(steps["survey"] - max(earlier_times), 3)
            if "survey" in steps and earlier_times
            else None
        )
        noted = [msgspec.structs.astuple(e) for e in participants.events_of(tx, person.id)]
        return ExportedPerson(row, person.joined, on_survey, noted)

    return await running_study.database.run(look)


def _row(
    running_study: RunningStudy,
    person: Person,
    answers: dict[str, Any],
    rounds: Sequence[RoundOutcome],
    stored_times: dict[str, float],
    played: list[dict[str, Any]],
    messages: list[dict[str, Any]],
) -> dict[str, Any]:
    study = running_study.study
    condition = study.condition(person.condition)
    ended = person.finished
    paired = person.pair and FALLBACK not in answers and MODEL not in answers
    paired = paired and not condition.rematch  # the trials name the partners' episodes
    return {
        "participant": running_study.secrets.export_id(person),
        "session": running_study.study.session or None,
        "state": person.state,
        "condition": person.condition,
        "order": [p.instance.id for p in running_study.study.plan(condition, person.row)],
        "option_order": "reversed" if person.reverse else "as given",
        "pair": blake2b(person.pair.encode(), digest_size=8).hexdigest() if paired else None,
        "partner_model": answers.get(MODEL),
        "fallback": answers.get(FALLBACK),
        "minutes": round((ended - person.joined) / 60, 2) if ended else None,
        "bonus": person.bonus or None,
        "advanced": [k.removeprefix(ADVANCED) for k in answers if k.startswith(ADVANCED)],
        "removed": answers.get(REMOVED),
        "exclusion": answers.get(EXCLUDED_BY),
        "started": utc(person.joined),
        "finished": utc(ended),
        "partner": partner_kind(study, condition, answers),
        "paid_games": [k + 1 for k in paid_games(study, condition, answers, person.number, rounds)],
        "attention": attention_counts(study, condition, answers),
        "check": [answers[key] for key in sorted(answers) if key.startswith("check-")],
        "rounds": msgspec.to_builtins(rounds),
        "episodes": played,
        "chat": messages,
        "survey": answers.get(SURVEY),
        "surveys": [
            {
                "asked": _survey_label(condition, step),
                "answered": utc(stored_times.get(step)),
                "answers": answers[step],
            }
            for step in sorted(answers, key=lambda step: stored_times.get(step, 0.0))
            if step == SURVEY or step.startswith(f"{SURVEY}-")
        ],
    }


def _survey_label(condition: Condition, step: str) -> str:
    """Return when a survey is asked: before, game N, block NAME or end."""
    if step.startswith(AFTER_GAME):
        return f"game {_number(step) + 1}"
    if step.startswith(AFTER_BLOCK):
        return f"block {condition.blocks[_number(step)].name}"
    return "before" if step == BEFORE else "end"


def _number(key: str) -> int:
    tail = key.rpartition("-")[2]
    return int(tail) if tail.isdigit() else -1


async def put_into_store(running_study: RunningStudy, folder: Path) -> int:
    """Write the study's store, replacing an earlier export; return the number of episodes."""
    await note_export(running_study)
    plan = running_study.study.kept_plan
    store.claim(folder, store.Manifest(running_study.study.name, plan.asks))
    store.keep_people_plan(folder, plan)
    place = store.Folder(folder)
    async with running_study.erasing:  # held until written, so that no erased person reappears
        episodes, people = await _gather(running_study)
        rows = [person.row for person in people]
        place.write(FILE, b"".join(map(to_line, episodes)))
        place.write(ROWS, msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n")
        study_tables = tables(running_study.study, people, episodes, await withdrawn(running_study))
        for name, data in files_of(running_study.study, study_tables).items():
            place.write(f"{DATA}/{name}", data)
    return len(episodes)
