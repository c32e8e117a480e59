"""Readers of recorded games: Inspect, Kaggle environments, clembench, TextArena and tidy tables."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from sally.analysis.game_logs import Failure, GameLog, Round
from sally.core.errors import BadInput, join_names, needs_extra
from sally.core.log.events import Censored, Episode, Forfeited, Moved, from_line, label

KAGGLE_FAILURES = {"ERROR": "error", "INVALID": "illegal", "TIMEOUT": "timeout"}
INVALID = re.compile(r"(?i)invalid|violat|error")  # types of clembench's notes on a bad reply
TABLE_COLUMNS = ("game", "seat", "player")
KNOWN = (
    "an Inspect log (.eval or .json), a replay of Kaggle environments (.json), interactions of "
    "clembench (.json or .jsonl), records of TextArena (.jsonl), or a table (.csv) with the "
    "columns game, seat, player and score or payoff"
)


def read_game_logs(paths: Iterable[Path]) -> list[GameLog]:
    """Return the games of these files, and of the files in these folders.

    Raises:
        BadInput: A file cannot be read, or there is none.
    """
    games: list[GameLog] = []
    for path in paths:
        if not path.exists():
            raise BadInput(f"There is no log at {path}.")
        files = [path] if path.is_file() else sorted(
            file for file in path.rglob("*") if file.suffix in READERS
        )  # fmt: skip
        for file in files:
            reader = READERS.get(file.suffix)
            if reader is None:
                raise BadInput(f"{file} is not a log of games; it may be {KNOWN}.")
            games += reader(file)
    if not games:
        raise BadInput("The logs contain no games.")
    return games


# --- files ----------------------------------------------------------------------------------------


def _read_json(file: Path) -> Iterator[GameLog]:
    value = _parse(file.read_bytes(), str(file))
    if isinstance(value, dict) and "eval" in value:
        yield from _read_inspect(file)
        return
    records = value if isinstance(value, list) else [value]
    for number, record in enumerate(records):
        yield _read_record(record, f"{file}, record {number + 1}", f"{file}:{number + 1}")


def _read_lines(file: Path) -> Iterator[GameLog]:
    for number, line in enumerate(file.read_bytes().splitlines()):
        if line.strip():
            place = f"{file}, line {number + 1}"
            yield _read_record(_parse(line, place), place, f"{file}:{number + 1}")


def _parse(text: bytes, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(f"{place}: this is not JSON.") from None


def _read_record(record: Any, place: str, id: str) -> GameLog:
    if isinstance(record, dict):
        for key, reader in RECORDS.items():
            if all(name in record for name in key):
                try:
                    return reader(record, str(record.get("id") or id))
                except (AttributeError, IndexError, KeyError, TypeError, ValueError):
                    raise BadInput(f"{place}: the record of a game is incomplete.") from None
    raise BadInput(f"{place}: this is not a record of a game; a file may be {KNOWN}.")


# --- Kaggle environments --------------------------------------------------------------------------


def _read_kaggle(record: Mapping[str, Any], id: str) -> GameLog:
    """Read a replay: `steps` hold action, reward and status of each agent after every step."""
    steps, rewards = record["steps"], record["rewards"]
    names = (record.get("info") or {}).get("TeamNames") or []
    players = tuple(str(names[n]) if n < len(names) else f"agent {n}" for n in range(len(rewards)))
    moves: list[tuple[int, str]] = []
    failures: list[Failure] = []
    rounds: list[Round] = []
    for step_before, step_after in pairwise(steps):
        acting = [seat for seat, agent in enumerate(step_before) if agent["status"] == "ACTIVE"]
        step_failures = list(_kaggle_failures(step_after, acting, step_after is steps[-1]))
        failures += step_failures
        failed_seats = {failure.seat for failure in step_failures}
        moves += [
            (seat, json.dumps(step_after[seat]["action"]))
            for seat in acting
            if seat not in failed_seats
        ]
        paid = [
            (step_before[seat]["reward"], step_after[seat]["reward"])
            for seat in range(len(rewards))
        ]
        is_paid = all(value is not None for pair in paid for value in pair)
        if len(acting) == len(rewards) and is_paid:
            actions = tuple(json.dumps(agent["action"]) for agent in step_after)
            rounds.append(Round(actions, tuple(float(now - earlier) for earlier, now in paid)))
    return GameLog(
        id,
        str(record.get("name") or record.get("title") or "game"),
        players,
        tuple(None if reward is None else float(reward) for reward in rewards),
        tuple(moves),
        tuple(failures),
        bool(failures),
        tuple(rounds),
    )


def _kaggle_failures(
    agents: Sequence[Mapping[str, Any]], acting: Sequence[int], is_last: bool
) -> Iterator[Failure]:
    """Yield the failures of the seats that acted before a step.

    A status may name them. The games of OpenSpiel, which Kaggle's arena plays, end with `DONE` for
    all after an illegal move: there the `info` of the seat has a submitted action that was not
    applied. If several seats act at once, those after the first offender are not looked at, and
    those before it have the name of their action. Other games take a missing action for a forfeit.
    """
    for seat in acting:
        agent, details = agents[seat], agents[seat].get("info") or {}
        kind = KAGGLE_FAILURES.get(agent["status"])
        if "actionApplied" in details:
            is_named = details.get("actionSubmittedToString") is not None
            if details["actionApplied"] is None and not is_named:
                yield Failure(seat, kind or "illegal")
                return
        elif kind is not None:
            yield Failure(seat, kind)
        elif is_last and agent["action"] is None:
            yield Failure(seat, "unreadable")


# --- clembench ------------------------------------------------------------------------------------


def _read_clembench(record: Mapping[str, Any], id: str) -> GameLog:
    """Read `interactions.json`: the players, and every message and note in order."""
    roles = [role for role in record["players"] if role != "GM"]
    violations = record.get("Violated Request Count") or [0] * len(record["turns"])
    moves: list[tuple[int, str]] = []
    failures: list[Failure] = []
    is_aborted = bool(record.get("Aborted"))
    for number, events in enumerate(record["turns"]):
        replies, failed_replies = _clembench_replies(events, roles)
        extra = int(violations[number]) - len(failed_replies) if number < len(violations) else 0
        is_last = number == len(record["turns"]) - 1
        speakers = {seat for seat, _ in replies}
        if extra > 0 and replies and (len(speakers) == 1 or (is_aborted and is_last)):
            unmarked = [n for n in range(len(replies)) if n not in failed_replies]
            failed_replies |= set(unmarked[-extra:])
        moves += [reply for n, reply in enumerate(replies) if n not in failed_replies]
        failures += [Failure(replies[n][0], "unreadable") for n in sorted(failed_replies)]
    scores = _clembench_scores(record, len(roles))
    meta = record.get("meta") or {}
    name = "/".join(str(meta[k]) for k in ("experiment_name", "game_id") if k in meta)
    return GameLog(
        f"{meta.get('results_folder', '')}/{name}" if name else id,
        str(meta.get("game_name", "game")),
        tuple(str(record["players"][role].get("model_name", role)) for role in roles),
        scores,
        tuple(moves),
        tuple(failures),
        is_aborted,
    )


def _clembench_replies(
    events: Sequence[Mapping[str, Any]], roles: Sequence[str]
) -> tuple[list[tuple[int, str]], set[int]]:
    """Return the replies of a round by seat, and the indices of those that a note calls invalid.

    Notes are worded by the games; two notes on one reply count once.
    """
    replies: list[tuple[int, str]] = []
    failed_replies: set[int] = set()
    for event in events:
        action = event["action"]
        if action["type"] == "get message" and event["from"] in roles:
            replies.append((roles.index(event["from"]), str(action["content"])))
        elif event["from"] == "GM" == event["to"] and replies and INVALID.search(action["type"]):
            failed_replies.add(len(replies) - 1)
    return replies, failed_replies


def _clembench_scores(record: Mapping[str, Any], players: int) -> tuple[float | None, ...]:
    """Return the points of the players, or for all of them whether the game was won; an aborted
    game without points has no score."""
    points, success, is_lost = (record.get(key) for key in ("total points", "Success", "Lose"))
    if isinstance(points, list):
        return tuple(float(point) for point in points)
    if success is None and is_lost is not None and not record.get("Aborted"):
        success = 1 - int(is_lost)
    return (None if success is None else float(success),) * players


# --- TextArena ------------------------------------------------------------------------------------


def _read_textarena(record: Mapping[str, Any], id: str) -> GameLog:
    """Read a record of one game: every reply, and `rewards` and `game_info` of `env.close()`."""
    players = tuple(map(str, record["players"]))
    moves = [(int(step["player"]), str(step["reply"])) for step in record["steps"]]
    info = record.get("game_info") or {}
    failures = tuple(
        Failure(seat, "illegal")
        for seat in range(len(players))
        if (info.get(str(seat)) or {}).get("invalid_move")
    )
    rewards = record.get("rewards") or {}
    return GameLog(
        id,
        str(record["env"]),
        players,
        tuple(
            float(rewards[str(seat)]) if str(seat) in rewards else None
            for seat in range(len(players))
        ),
        tuple(moves),
        failures,
        bool(failures),
    )


# --- Inspect --------------------------------------------------------------------------------------


def _read_inspect(file: Path) -> Iterator[GameLog]:
    """Read a log: Sally's episodes if its samples hold some, else each sample as a game of one."""
    with needs_extra("inspect"):
        log: Any = import_module("inspect_ai.log")
    try:
        content = log.read_eval_log(str(file))
    except Exception:  # Inspect raises various errors for a broken file
        raise BadInput(f"{file} is not an Inspect log (.eval or .json).") from None
    for sample in content.samples or ():
        lines = sample.store.get("episodes") or [sample.store.get("episode")]
        if lines[0] is not None:
            yield from (_episode_log(from_line(str(line).encode())) for line in lines)
            continue
        scores = list((sample.scores or {}).values())
        values = [score.value for score in scores if isinstance(score.value, bool | int | float)]
        values += [score.value == "C" for score in scores if score.value in ("C", "I", "N")]
        reasons = [score.reason for score in scores if score.reason]
        yield GameLog(
            f"{sample.id}/{sample.epoch}",
            str(content.eval.task),
            (str(content.eval.model),),
            (float(values[0]) if values else None,),
            failures=tuple(Failure(0, str(reason)) for reason in reasons[:1]),
            is_cut=bool(reasons or sample.error),
        )


def _episode_log(episode: Episode) -> GameLog:
    seats = list(episode.setup.lineup)
    played = [e for e in episode.events if isinstance(e, Moved | Forfeited) and e.seat in seats]
    end = episode.events[-1] if episode.events else None
    payoffs = episode.payoffs or {}
    return GameLog(
        episode.id,
        episode.setup.instance.game,
        tuple(label(player) for player in episode.setup.lineup.values()),
        tuple(payoffs.get(seat) for seat in seats),
        tuple((seats.index(e.seat), str(e.action)) for e in played if isinstance(e, Moved)),
        tuple(Failure(seats.index(e.seat), e.reason) for e in played if isinstance(e, Forfeited)),
        (isinstance(end, Censored) and end.cause == "forfeits")
        or bool(played and isinstance(played[-1], Forfeited)),
    )


# --- tables ---------------------------------------------------------------------------------------


def _read_table(file: Path) -> Iterator[GameLog]:
    """Read a table with one row for each game and seat, or for each game, round and seat."""
    with file.open(newline="", encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines))
    columns = set(rows[0]) if rows else set()
    missing = [name for name in TABLE_COLUMNS if name not in columns]
    if missing or not columns & {"score", "payoff"}:
        raise BadInput(
            f"{file} lacks the column {join_names(missing or ['score or payoff'])}; a table of "
            f"games "
            "needs game, seat, player, and score or payoff."
        )
    games: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        games.setdefault(row["game"], []).append(row)
    for id, group in games.items():
        try:
            yield _table_game(id, group)
        except ValueError as error:
            raise BadInput(f"{file}, game {id}: {error}.") from None


def _table_game(id: str, rows: Sequence[Mapping[str, str]]) -> GameLog:
    seats = list(dict.fromkeys(row["seat"] for row in rows))
    players = {row["seat"]: row["player"] for row in rows}
    totals: dict[str, float | None] = dict.fromkeys(seats)
    by_round: dict[str, dict[str, Mapping[str, str]]] = {}
    for row in rows:
        text = row.get("payoff") or row.get("score")
        if text:
            totals[row["seat"]] = (totals[row["seat"]] or 0.0) + float(text)
        by_round.setdefault(row.get("round") or "", {})[row["seat"]] = row
    rounds = [
        Round(
            tuple(turn[seat]["action"] for seat in seats),
            tuple(float(turn[seat]["payoff"]) for seat in seats),
        )
        for turn in by_round.values()
        if all(turn.get(s, {}).get("action") and turn.get(s, {}).get("payoff") for s in seats)
    ]
    failures = [
        Failure(seats.index(row["seat"]), str(row["failure"])) for row in rows if row.get("failure")
    ]
    return GameLog(
        id,
        rows[0].get("title") or "game",
        tuple(players[seat] for seat in seats),
        tuple(totals[seat] for seat in seats),
        tuple((seats.index(row["seat"]), row["action"]) for row in rows if row.get("action")),
        tuple(failures),
        bool(rows[-1].get("failure") or (failures and not by_round.get("1"))),
        tuple(rounds),
    )


RECORDS = {
    ("steps", "rewards", "statuses"): _read_kaggle,
    ("players", "turns"): _read_clembench,
    ("env", "players", "steps"): _read_textarena,
}
READERS = {
    ".eval": _read_inspect,
    ".json": _read_json,
    ".jsonl": _read_lines,
    ".csv": _read_table,
}
