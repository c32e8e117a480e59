"""What one answer looks like in the database, so that a match can be rebuilt from its answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec

from sally.core.game import GameSpec
from sally.core.log import Call, Looked
from sally.core.player import AskId, Decision, Fault, Forfeit, Silence, Turn
from sally.core.probe import Foreseen, Report, Value
from sally.web.database import Transaction

Given = Decision[Any] | Forfeit | Fault | Report | Silence


class Moves(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="move"):
    """A seat moved."""

    ask: AskId
    action: Any
    memory: Any = None  # of language players; a bot is asked again and has its own
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    foreseen: tuple[Foreseen, ...] = ()
    looked: tuple[Looked, ...] = ()


class Reports(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="report"):
    """A seat answered a probe."""

    ask: AskId
    value: Value | None
    odds: tuple[float, ...] | None = None
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()


class Loses(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="forfeit"):
    """No legal action could be had from a seat."""

    ask: AskId
    reason: str
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    memory: Any = None
    looked: tuple[Looked, ...] = ()


class Fails(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="fault"):
    """A player broke down, or could not be reached."""

    ask: AskId
    cause: str
    detail: str = ""
    calls: tuple[Call, ...] = ()


class Declines(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="silence"):
    """A player takes no questions."""

    ask: AskId
    reason: str


class Looks(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="look"):
    """A person looked something up before moving."""

    ask: AskId
    tool: str
    given: dict[str, Any]


class Stops(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="stop"):
    """The match was stopped without a result."""

    cause: str
    detail: str = ""
    seat: str = ""


StoredAnswer = Moves | Reports | Loses | Fails | Declines | Looks | Stops
_DECODER: msgspec.json.Decoder[StoredAnswer] = msgspec.json.Decoder(StoredAnswer)


def stored_answer(turn: Turn[Any, Any], given: Given) -> StoredAnswer:
    """An answer as it stands in the database; notes are kept where they are plain data."""
    ask, looked = turn.id, tuple(turn.looked)
    match given:
        case Decision(action, memory, reply, tries, calls, foreseen):
            return Moves(
                ask, action, memory if calls else None, reply, tries, calls, foreseen, looked
            )
        case Report(value, odds, reply, tries, calls):
            return Reports(ask, value, odds, reply, tries, calls)
        case Forfeit(reason, reply, tries, calls, memory):
            return Loses(ask, reason, reply, tries, calls, memory if calls else None, looked)
        case Fault(cause, detail, calls):
            return Fails(ask, cause, detail, calls)
        case Silence(reason):
            return Declines(ask, reason)


def given_by(spec: GameSpec[Any, Any, Any], stored: StoredAnswer) -> Given:
    """The answer that a stored answer holds."""
    match stored:
        case Moves():
            action = (
                stored.action if spec.action is int else msgspec.convert(stored.action, spec.action)
            )
            return Decision(
                action, stored.memory, stored.reply, stored.tries, stored.calls, stored.foreseen
            )
        case Reports():
            return Report(stored.value, stored.odds, stored.reply, stored.tries, stored.calls)
        case Loses():
            return Forfeit(stored.reason, stored.reply, stored.tries, stored.calls, stored.memory)
        case Fails():
            return Fault(stored.cause, stored.detail, stored.calls)
        case Declines():
            return Silence(stored.reason)
        case _:
            raise TypeError(f"{stored!r} is no answer")


def to_text(stored: StoredAnswer) -> str:
    return msgspec.json.encode(stored).decode()


def from_text(text: str) -> StoredAnswer:
    return _DECODER.decode(text)


Written = tuple[str, StoredAnswer, str | None]  # seat, what it said, the client's key


def write(tx: Transaction, match: str, first: int, rows: Sequence[Written], over: bool) -> None:
    """Put answers behind the `first` ones that the database has, and say whether it is over."""
    now = time.time()
    for n, (seat, stored, key) in enumerate(rows, first):
        tx.put(
            "INSERT INTO answers (match, n, seat, entry, client_key, made) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            *(match, n, seat, to_text(stored), key, now),
        )
    if over:
        tx.put("UPDATE matches SET ended = 1 WHERE id = ?", match)
