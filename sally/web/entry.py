"""What one answer looks like in the book, so that a match can be rebuilt from its answers."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.game import GameSpec
from sally.core.log import Call, Looked
from sally.core.player import AskId, Decision, Fault, Forfeit, Silence, Turn
from sally.core.probe import Foreseen, Report, Value

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


Entry = Moves | Reports | Loses | Fails | Declines | Looks | Stops
_DECODER: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)


def entry_of(turn: Turn[Any, Any], given: Given) -> Entry:
    """An answer as it stands in the book; notes are kept where they are plain data."""
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


def given_by(spec: GameSpec[Any, Any, Any], entry: Entry) -> Given:
    """The answer that an entry holds."""
    match entry:
        case Moves():
            action = (
                entry.action if spec.action is int else msgspec.convert(entry.action, spec.action)
            )
            return Decision(
                action, entry.memory, entry.reply, entry.tries, entry.calls, entry.foreseen
            )
        case Reports():
            return Report(entry.value, entry.odds, entry.reply, entry.tries, entry.calls)
        case Loses():
            return Forfeit(entry.reason, entry.reply, entry.tries, entry.calls, entry.memory)
        case Fails():
            return Fault(entry.cause, entry.detail, entry.calls)
        case Declines():
            return Silence(entry.reason)
        case _:
            raise TypeError(f"{entry!r} is no answer")


def to_text(entry: Entry) -> str:
    return msgspec.json.encode(entry).decode()


def from_text(text: str) -> Entry:
    return _DECODER.decode(text)
