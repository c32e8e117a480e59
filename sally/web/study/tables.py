"""Tidy tables of a study's data, and the Psych-DS folder that contains them.

The layout is Psych-DS 1.x (psych-ds.github.io): `data/KEY-VALUE_data.csv` with the standard's keys,
and `dataset_description.json`, which lists the variables of all files under schema.org's
`variableMeasured`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from sally.core.log.events import Episode, Forfeited, Moved, PlayerSpec, Reported
from sally.core.match.seat_context import SeatContext
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, judge_report
from sally.frames.replays import replay_for_measures
from sally.output.files.export import formula_safe
from sally.players.language import uses_model
from sally.web.live.matches import PERSON
from sally.web.study.definition import HumanStudy
from sally.web.study.rules import rules_of

Row = dict[str, Any]
WHO = {
    "participant": "Code of the participant, the same in every table; not the platform's id.",
    "condition": "Condition to which the participant was assigned.",
}
ROUND = {
    **WHO,
    "block": "Block of the condition; empty where it has only one.",
    "game_number": "Number of the game for this participant, from 1.",
    "episode": "Identifier of the episode in the store.",
    "game": "Name of the game's rules.",
    "instance": "Identifier of the problem that was played.",
    "seat": "Seat of the participant.",
    "turn": "Turn of the game, from 1; in repeated games, the round.",
}
TOOK = (
    "Seconds from the display of the question to the answer, measured in the browser; reading the "
    "rules does not count. Without a browser's measurement, from the start of the turn."
)
ANSWERED = "Time at which the server stored the answer (UTC)."
# The codebook: every column of every table in order, with its meaning.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "participants": {
        **WHO,
        "session": "Session of the study; empty where the study has none.",
        "state": "done, incomplete, excluded, failed (the comprehension check), lapsed or active.",
        "started": "Time of the consent (UTC).",
        "finished": "Time of the last page (UTC); empty where the study was not finished.",
        "partner": "Kind of partner: person, model or bot.",
        "order": "Instances in the planned order.",
        "option_order": "Whether options were shown as given or reversed.",
        "pair": "Code of the pair, where two participants played together.",
        "partner_model": "Model that took the other seats of the group; empty for everyone else.",
        "fallback": "Bot that was played with because no partner came: its name, or bot for the "
        "game's usual one; empty for everyone else.",
        "advanced": "Steps that the experimenter skipped for the participant.",
        "removed": "Step at which the experimenter ended the participation, if so.",
        "exclusion": "Reason for which the experimenter excluded the participant, if so.",
        "minutes": "From consent to the end.",
        "games_played": "Games that ended with a result.",
        "points": "Sum of the payoffs; for an interrupted game, the points earned so far.",
        "paid_games": "Numbers of the games whose points are paid, from 1.",
        "base_pay": "Fixed part of the pay.",
        "bonus_pay": "Variable part of the pay.",
        "currency": "Currency of the pay.",
        "check_tries": "Attempts at the comprehension check.",
        "check_passed": "Whether the comprehension check was passed.",
        "attention_passed": "Attention checks that were passed.",
        "attention_asked": "Attention checks that were answered.",
        "survey_seconds": "Time on the survey page.",
        "survey_fast": "Whether that is less than the study's least_seconds.",
        "pastes": "Times that text was pasted (empty: not logged).",
        "times_away": "Times that the page was hidden or lost its focus (empty: not logged).",
        "resizes": "Times that the window was resized (empty: not logged).",
    },
    "trials": {
        **ROUND,
        "option": "The choice, as the rules encode it.",
        "label": "The choice, as the participant read it.",
        "forfeited": "Whether the decision was forfeited (no legal choice).",
        "tries": "Number of answers until one was valid.",
        "response_seconds": TOOK,
        "answered": ANSWERED,
        "others_option": "Choices of the other seats in this turn, as the rules encode them.",
        "others_label": "Choices of the other seats in this turn, as the participant reads them.",
        "others_kind": "For each other seat: person, bot, or model with its name.",
        "points": "Points of the turn; empty if the game has no points before its end.",
        "probe": "Probe answered in this turn; of several, this and the next three are lists.",
        "probe_answer": "Answer to the probe, as the rules encode it.",
        "probe_truth": "The true answer; empty if the question has no true answer.",
        "probe_correct": "Whether the answer is the true one; empty where that is not defined.",
    },
    "probes": {
        **ROUND,
        "probe": "Name of the question.",
        "about": "Seat or item that the question is about.",
        "answer": "The answer, as the rules encode it.",
        "label": "The answer, as the participant read it.",
        "odds": "Stated probabilities, in the order of the answers.",
        "truth": "The true answer; empty if the question has no true answer.",
        "truth_label": "The true answer, as the participant would read it.",
        "correct": "Whether the answer is the true one; empty where that is not defined.",
        "response_seconds": TOOK,
        "answered": ANSWERED,
    },
    "survey": {
        **WHO,
        "asked": "before (the first game), game N or block NAME (after it), or end.",
        "item": "Name of the item.",
        "row": "Row of a matrix item; empty for other items.",
        "answer": "The answer; empty where none was given.",
        "answered": ANSWERED,
    },
    "chat": {
        **WHO,
        "before_game": "Number of the game before which the members of a group talked, from 2.",
        "number": "Number of the message in this chat, from 1.",
        "seconds": "Seconds since the chat began.",
        "text": "The message.",
    },
    "withdrawn": {
        "participant": "Code of a participant who withdrew after an export: delete their rows "
        "from earlier copies.",
        "withdrawn": "Time of the withdrawal (UTC).",
    },
    "events": {
        **WHO,
        "number": "Number of the event, from 1.",
        "page": "Page on which it happened.",
        "kind": "paste, hidden, shown, blur, focus, resize or typing.",
        "detail": "How much, how long or how large.",
        "seconds": "Seconds since consent.",
    },
}


def utc(seconds: float | None) -> str | None:
    """Return a Unix time as UTC text, such as 2026-11-18 15:03:00; None stays None."""
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%F %T}"


class ExportedPerson(msgspec.Struct, frozen=True):
    """The exported data of a participant."""

    row: Row  # as in people.json
    joined: float
    survey_seconds: float | None
    events: Sequence[tuple[int, str, str, str, float]]  # number, page, kind, detail, time


def tables(
    study: HumanStudy,
    people: Sequence[ExportedPerson],
    episodes: Sequence[Episode],
    withdrawn: Sequence[tuple[str, float]] = (),
) -> dict[str, list[Row]]:
    """Return all tables of a study."""
    conditions = {p.row["participant"]: p.row["condition"] for p in people}
    rounds = [row for episode in episodes for row in _rounds(study, episode, conditions)]
    return {
        "participants": [_participant(study, person) for person in people],
        "trials": [row for kind, row in rounds if kind == "trial"],
        "probes": [row for kind, row in rounds if kind == "probe"],
        "survey": [row for person in people for row in _survey(person)],
        "chat": [row for person in people for row in _chat(person)],
        "withdrawn": [
            {
                "participant": participant,
                "withdrawn": utc(withdrawn_at),
            }
            for participant, withdrawn_at in withdrawn
        ],
        "events": [row for person in people for row in _events(person)],
    }


def as_csv(table: str, rows: Iterable[Row]) -> str:
    """Encode a table as CSV; missing values are empty, and formulas get an apostrophe."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(COLUMNS[table]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return msgspec.json.encode(value).decode()
    if isinstance(value, str):
        return formula_safe(value)  # free text may begin like a spreadsheet formula
    return "" if value is None else value


def _participant(study: HumanStudy, person: ExportedPerson) -> Row:
    row, counts = person.row, Counter(kind for _, _, kind, _, _ in person.events)
    condition = study.condition(row["condition"])
    base, bonus = study.pay_rules(condition)[row["partner"]].parts(row["bonus"] or "")
    passed, checks = row["attention"]
    logged = study.quality.log
    fast = None
    if person.survey_seconds is not None and study.quality.least_seconds:
        fast = person.survey_seconds < study.quality.least_seconds
    return {
        **{k: row[k] for k in ("participant", "condition", "state", "order", "option_order")},
        **{
            k: row[k]
            for k in ("session", "pair", "partner_model", "fallback", "removed", "minutes")
        },
        **{k: row[k] for k in ("started", "finished", "partner", "exclusion", "paid_games")},
        "advanced": row["advanced"] or None,
        "games_played": sum(came["how"] == "ended" for came in row["rounds"]),
        "points": sum(came.get("payoff") or 0 for came in row["rounds"]),
        "base_pay": str(base) if row["bonus"] else None,
        "bonus_pay": str(bonus) if row["bonus"] else None,
        "currency": study.bonus.currency or None,
        "check_tries": len(row["check"]) if study.check else None,
        "check_passed": any(c["right"] for c in row["check"]) if study.check else None,
        "attention_passed": passed,
        "attention_asked": checks,
        "survey_seconds": person.survey_seconds,
        "survey_fast": fast,
        "pastes": counts["paste"] if logged else None,
        "times_away": counts["hidden"] + counts["blur"] if logged else None,
        "resizes": counts["resize"] if logged else None,
    }


def _survey(person: ExportedPerson) -> Iterator[Row]:
    identity = {key: person.row[key] for key in WHO}
    for survey in person.row["surveys"]:
        place = {**identity, "asked": survey["asked"], "answered": survey["answered"]}
        for item, answer in survey["answers"].items():
            if isinstance(answer, dict):
                yield from (
                    {**place, "item": item, "row": r, "answer": a} for r, a in answer.items()
                )
            else:
                yield {**place, "item": item, "row": None, "answer": answer}


def _chat(person: ExportedPerson) -> Iterator[Row]:
    identity = {key: person.row[key] for key in WHO}
    yield from ({**identity, **message} for message in person.row["chat"])


def _events(person: ExportedPerson) -> Iterator[Row]:
    identity = {key: person.row[key] for key in WHO}
    for n, page, kind, detail, event_time in person.events:
        seconds = round(event_time - person.joined, 3)
        yield {**identity, "number": n + 1, "page": page, "kind": kind, "detail": detail,
               "seconds": seconds}  # fmt: skip


def _block(study: HumanStudy, name: str, number: int) -> str | None:
    """Return the name of the block to which a participant's game belongs, or None."""
    condition = study.condition(name)
    rounds = [round_count for _, round_count, _ in study.blocks(condition)]
    within = [
        b.name
        for b, round_count in zip(condition.blocks, rounds, strict=False)
        for _ in range(round_count)
    ]
    return within[number] if within else None


def _rounds(
    study: HumanStudy, episode: Episode, conditions: Mapping[str, str]
) -> Iterator[tuple[str, Row]]:
    """Yield the decisions and probe answers of all participants in an episode."""
    played_episode, spoken = (
        replay_for_measures(episode),
        study.people_texts.get(episode.setup.instance.game),
    )
    for seat, person_data in episode.used.get("people", {}).items():
        participant = person_data["participant"]
        if participant not in conditions:
            continue  # withdrew meanwhile
        location = {
            "participant": participant,
            "condition": conditions[participant],
            "block": _block(study, conditions[participant], person_data["round"]),
            "game_number": person_data["round"] + 1,
            "episode": episode.id,
            "game": episode.setup.instance.game,
            "instance": episode.setup.instance.id,
            "seat": seat,
        }
        seconds = {tuple(ask_key): n for ask_key, n in person_data.get("asked", ())}
        stored_at = dict(zip(seconds, person_data.get("answered", ()), strict=False))
        context = SeatContext(
            played_episode.spec, played_episode.replay.game, Seat(seat), episode.setup.seed, spoken
        )
        probes: dict[int, list[Row]] = {}
        for event in episode.events:
            if isinstance(event, Reported) and event.seat == seat and event.source == "probe":
                ask = (event.turn, event.probe, event.about)
                columns = {**location, "turn": event.turn + 1, "response_seconds": seconds.get(ask)}
                columns["answered"] = stored_at.get(ask)
                probes.setdefault(event.turn, []).append(
                    {**columns, **probe_row(played_episode, context, event)}
                )
        for event in episode.events:
            if isinstance(event, Moved | Forfeited) and event.seat == seat:
                ask = (event.turn, "", "")
                columns = {**location, "turn": event.turn + 1, "response_seconds": seconds.get(ask)}
                columns["answered"] = stored_at.get(ask)
                probe_columns = _beside(probes.get(event.turn, []))
                yield (
                    "trial",
                    {**columns, **_trial(played_episode, context, event), **probe_columns},
                )
        yield from (("probe", row) for rows in probes.values() for row in rows)


def _trial(played_episode: Played, context: SeatContext, event: Moved | Forfeited) -> Row:
    """Return the row of a decision, with the others' choices and the points in the same turn."""
    moved = [
        e for e in played_episode.episode.events if isinstance(e, Moved) and e.turn == event.turn
    ]
    others = {
        e.seat: e
        for e in moved
        if e.seat != event.seat and e.seat in played_episode.replay.game.seats
    }
    return {
        "option": msgspec.to_builtins(event.action) if isinstance(event, Moved) else None,
        "label": move_label(played_episode, context, event) if isinstance(event, Moved) else None,
        "forfeited": isinstance(event, Forfeited),
        "tries": event.tries,
        "others_option": {s: e.action for s, e in others.items()} or None,
        "others_label": {s: move_label(played_episode, context, e) for s, e in others.items()}
        or None,
        "others_kind": {
            s: _kind(player)
            for s, player in played_episode.episode.setup.lineup.items()
            if s != event.seat and s in played_episode.replay.game.seats
        }
        or None,
        "points": turn_points(played_episode, event.turn, event.seat),
    }


def _kind(player: PlayerSpec) -> str:
    """Return the kind of player in a seat: a person, a bot or a model."""
    if uses_model(player):
        return f"model {player.params.get('model', '')}".rstrip()
    return PERSON if player.player == PERSON else "bot"


def move_label(played_episode: Played, context: SeatContext, event: Moved) -> str:
    """Return a move as a participant reads it."""
    action = event.action
    if played_episode.spec.action is not int:
        action = msgspec.convert(action, played_episode.spec.action)
    return context.words.name(action)


def turn_points(played_episode: Played, turn: int, seat: str) -> float | None:
    """Return the points of a seat in one turn, or None if the game pays only at its end."""
    game, states = played_episode.replay.game, played_episode.replay.states
    if not game.pays_as_it_goes or turn + 1 >= len(states):
        return None
    payoffs_before, payoffs_after = game.payoffs(states[turn]), game.payoffs(states[turn + 1])
    return float(payoffs_after.get(Seat(seat), 0) - payoffs_before.get(Seat(seat), 0))


def _beside(probes: Sequence[Row]) -> Row:
    """Return the probe columns of a decision: single values for one probe, lists for several."""
    names = {"probe": "probe", "probe_answer": "answer"}
    names |= {"probe_truth": "truth", "probe_correct": "correct"}
    columns = {name: [row[key] for row in probes] for name, key in names.items()}
    if len(probes) > 1:
        return columns
    return {name: values[0] if values else None for name, values in columns.items()}


def probe_row(played_episode: Played, context: SeatContext, event: Reported) -> Row:
    """Return the row of an answer to a probe and its truth, each as encoded and as participants
    read it."""
    judgement = judge_report(played_episode.spec, played_episode.replay, event)

    def label_of(value: Any) -> str | None:
        if (
            judgement is None
            or not isinstance(value, int | str)
            or value not in judgement.question.choices
        ):
            return None
        return context.words.of(judgement.question).choice_name(judgement.question, value)

    return {
        "probe": event.probe,
        "about": event.about,
        "answer": event.value,
        "label": label_of(event.value),
        "odds": event.odds,
        "truth": None if judgement is None else judgement.truth,
        "truth_label": None if judgement is None else label_of(judgement.truth),
        "correct": None if judgement is None else judgement.right,
    }


# --- the Psych-DS folder ------------------------------------------------------------------------


def files_of(study: HumanStudy, rows: Mapping[str, list[Row]]) -> dict[str, bytes]:
    """Return the files of the Psych-DS folder, by path."""
    name = re.sub(r"[^a-zA-Z0-9]", "", study.name)
    files = {
        f"data/study-{name}_description-{table}_data.csv": as_csv(table, rows[table]).encode()
        for table in COLUMNS
    }
    files["dataset_description.json"] = _json(description(study))
    files["codebook.json"] = _json(codebook(study))
    files["README.md"] = readme(study).encode()
    return files


def description(study: HumanStudy) -> dict[str, Any]:
    """Return the JSON-LD description of the data set."""
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.title,
        "description": f"Decisions, answers and survey data of the study {study.name!r}.",
        "inLanguage": study.language,
        "variableMeasured": [
            {"@type": "PropertyValue", "name": name, "description": about}
            for name, about in _variables().items()
        ],
    }


def _variables() -> dict[str, str]:
    """Return the meaning of each column; if it differs between tables, the meanings are joined."""
    meanings: dict[str, str] = {}
    for columns in COLUMNS.values():
        for name, about in columns.items():
            if about not in meanings.get(name, ""):
                meanings[name] = f"{meanings[name]} {about}" if name in meanings else about
    return meanings


def codebook(study: HumanStudy) -> dict[str, Any]:
    """Return the columns of all tables, the survey items and the rules of the study."""
    items = {name: msgspec.to_builtins(item) for name, item in study.survey_items.items()}
    return {"tables": COLUMNS, "survey_items": items, "rules": rules_of(study)}


def readme(study: HumanStudy) -> str:
    rules = "\n".join(f"- {rule}" for rule in rules_of(study))
    tables = "\n".join(f"- `{table}`: {len(columns)} columns" for table, columns in COLUMNS.items())
    return (
        f"# {study.title}\n\nData of the study `{study.name}`, written by `sally people export`.\n"
        f"Participants are identified by codes that only the study's database can resolve.\n\n"
        f"{tables}\n\nColumns are explained in `codebook.json`.\n\n"
        f"## Rules of the study\n\n{rules}\n"
    )


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
