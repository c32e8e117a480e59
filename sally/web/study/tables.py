"""What people did as tidy tables: a row is a participant, choice, question, item or event."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from sally.analysis.columns.rows import played
from sally.core.log.events import Episode, Forfeited, Moved, Reported
from sally.core.match.seat_context import SeatContext
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played, judged
from sally.web.study.definition import HumanStudy
from sally.web.study.items import attention

Row = dict[str, Any]
WHO = {
    "participant": "Code of the participant, the same in every table; not the platform's id.",
    "condition": "Condition to which the participant was assigned.",
}
ROUND = {
    **WHO,
    "block": "Block of the condition; empty where it has only one.",
    "game_number": "Which of the participant's games it was, from 1.",
    "episode": "Identifier of the episode in the store.",
    "game": "Name of the game's rules.",
    "instance": "Identifier of the problem that was played.",
    "seat": "Seat of the participant.",
    "turn": "Turn of the game, from 1.",
}
TOOK = "From when this was asked to the answer; in the first turn, from when the game began."
# Every column of every table and what it means: the codebook, and the order of columns.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "participants": {
        **WHO,
        "state": "done, incomplete, excluded, failed (the comprehension check), lapsed or active.",
        "order": "Instances in the order in which they were to be played.",
        "option_order": "Whether options were shown as given or reversed.",
        "pair": "Code of the pair, where two participants played together.",
        "minutes": "From consent to the end.",
        "games_played": "Games that ended with a result.",
        "points": "Sum of the payoffs of the games.",
        "base_pay": "Part of the pay that everybody gets.",
        "bonus_pay": "Part of the pay that depends on the games.",
        "currency": "Currency of the pay.",
        "check_tries": "Tries at the comprehension check.",
        "check_passed": "Whether it was passed.",
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
        "option": "What was chosen, as the rules write it.",
        "label": "What was chosen, as the participant read it.",
        "forfeited": "Whether no legal choice was made.",
        "tries": "Answers until one could be taken.",
        "response_seconds": TOOK,
    },
    "probes": {
        **ROUND,
        "probe": "Name of the question.",
        "about": "Whom or what it was about.",
        "answer": "The answer, as the rules write it.",
        "label": "The answer, as the participant read it.",
        "odds": "Stated chances, in the order of the answers.",
        "truth": "The true answer; empty where there is none.",
        "correct": "Whether the answer is the true one; empty where that is not defined.",
        "response_seconds": TOOK,
    },
    "survey": {
        **WHO,
        "item": "Name of the item.",
        "row": "Line of a matrix; empty for other items.",
        "answer": "The answer; empty where none was given.",
    },
    "events": {
        **WHO,
        "number": "Number of the event, from 1.",
        "page": "Page on which it happened.",
        "kind": "paste, hidden, shown, blur, focus, resize or typing.",
        "detail": "How much, how long or how large.",
        "seconds": "Since the participant agreed to take part.",
    },
}


class Person(msgspec.Struct, frozen=True):
    """All that is exported of one participant."""

    row: Row  # as people.json has it
    joined: float
    survey_seconds: float | None
    events: Sequence[tuple[int, str, str, str, float]]  # number, page, kind, detail, when


def tables(
    study: HumanStudy, people: Sequence[Person], episodes: Sequence[Episode]
) -> dict[str, list[Row]]:
    """Every table of a study."""
    conditions = {p.row["participant"]: p.row["condition"] for p in people}
    rounds = [row for episode in episodes for row in _rounds(study, episode, conditions)]
    return {
        "participants": [_participant(study, person) for person in people],
        "trials": [row for kind, row in rounds if kind == "trial"],
        "probes": [row for kind, row in rounds if kind == "probe"],
        "survey": [row for person in people for row in _survey(person)],
        "events": [row for person in people for row in _events(person)],
    }


def as_csv(table: str, rows: Iterable[Row]) -> str:
    """A table as CSV; what is unknown is empty."""
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
    return "" if value is None else value


def _participant(study: HumanStudy, person: Person) -> Row:
    row, counts = person.row, Counter(kind for _, _, kind, _, _ in person.events)
    base, bonus = study.bonus.parts(row["bonus"] or "")
    passed, asked = attention(study.survey, row["survey"] or {})
    logged = study.quality.log
    fast = None
    if person.survey_seconds is not None and study.quality.least_seconds:
        fast = person.survey_seconds < study.quality.least_seconds
    return {
        **{k: row[k] for k in ("participant", "condition", "state", "order", "option_order")},
        **{k: row[k] for k in ("pair", "minutes")},
        "games_played": sum(came["how"] == "ended" for came in row["rounds"]),
        "points": sum(came.get("payoff") or 0 for came in row["rounds"]),
        "base_pay": str(base) if row["bonus"] else None,
        "bonus_pay": str(bonus) if row["bonus"] else None,
        "currency": study.bonus.currency or None,
        "check_tries": len(row["check"]) if study.check else None,
        "check_passed": any(c["right"] for c in row["check"]) if study.check else None,
        "attention_passed": passed,
        "attention_asked": asked,
        "survey_seconds": person.survey_seconds,
        "survey_fast": fast,
        "pastes": counts["paste"] if logged else None,
        "times_away": counts["hidden"] + counts["blur"] if logged else None,
        "resizes": counts["resize"] if logged else None,
    }


def _survey(person: Person) -> Iterator[Row]:
    who = {key: person.row[key] for key in WHO}
    for item, answer in (person.row["survey"] or {}).items():
        if isinstance(answer, dict):
            yield from ({**who, "item": item, "row": r, "answer": a} for r, a in answer.items())
        else:
            yield {**who, "item": item, "row": None, "answer": answer}


def _events(person: Person) -> Iterator[Row]:
    who = {key: person.row[key] for key in WHO}
    for n, page, kind, detail, made in person.events:
        after = round(made - person.joined, 3)
        yield {**who, "number": n + 1, "page": page, "kind": kind, "detail": detail,
               "seconds": after}  # fmt: skip


def _block(study: HumanStudy, name: str, number: int) -> str | None:
    """The block in which a participant's game of this number lies."""
    condition = study.condition(name)
    rounds = [many for _, many, _ in study.blocks(condition)]
    within = [
        b.name for b, many in zip(condition.blocks, rounds, strict=False) for _ in range(many)
    ]
    return within[number] if within else None


def _rounds(
    study: HumanStudy, episode: Episode, conditions: Mapping[str, str]
) -> Iterator[tuple[str, Row]]:
    """The choices and answers of everybody at one table who takes part."""
    whole, spoken = played(episode), study.spoken.get(episode.setup.instance.game)
    for seat, known in episode.used.get("people", {}).items():
        who = known["participant"]
        if who not in conditions:
            continue  # withdrew after the episode was gathered
        where = {
            "participant": who,
            "condition": conditions[who],
            "block": _block(study, conditions[who], known["round"]),
            "game_number": known["round"] + 1,
            "episode": episode.id,
            "game": episode.setup.instance.game,
            "instance": episode.setup.instance.id,
            "seat": seat,
        }
        seconds = {tuple(at): n for at, n in known.get("asked", ())}
        context = SeatContext(whole.spec, whole.replay.game, Seat(seat), episode.setup.seed, spoken)
        for event in episode.events:
            if getattr(event, "seat", None) != seat:
                continue
            at = {**where, "turn": event.turn + 1}
            if isinstance(event, Moved | Forfeited):
                took = seconds.get((event.turn, "", ""))
                yield "trial", {**at, **_trial(whole, context, event), "response_seconds": took}
            elif isinstance(event, Reported) and event.source == "probe":
                took = seconds.get((event.turn, event.probe, event.about))
                yield "probe", {**at, **_probe(whole, context, event), "response_seconds": took}


def _trial(whole: Played, context: SeatContext, event: Moved | Forfeited) -> Row:
    if isinstance(event, Forfeited):
        return {"option": None, "label": None, "forfeited": True, "tries": event.tries}
    action = event.action
    if whole.spec.action is not int:
        action = msgspec.convert(action, whole.spec.action)
    option = msgspec.to_builtins(event.action)
    label = context.words.name(action)
    return {"option": option, "label": label, "forfeited": False, "tries": event.tries}


def _probe(whole: Played, context: SeatContext, event: Reported) -> Row:
    found, label = judged(whole.spec, whole.replay, event), None
    if found is not None and isinstance(event.value, int | str):
        label = context.words.of(found.question).choice_name(found.question, event.value)
    return {
        "probe": event.probe,
        "about": event.about,
        "answer": event.value,
        "label": label,
        "odds": event.odds,
        "truth": None if found is None else found.truth,
        "correct": None if found is None else found.right,
    }
