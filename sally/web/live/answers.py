"""What one answer looks like in the database, so that a match can be rebuilt from its answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from inspect import isawaitable
from typing import Any

import msgspec

from sally.core.log.events import Looked
from sally.core.match.answers import action_of
from sally.core.match.player import AskId, Decision, Fault, Forfeit, Given, Player, Turn, put
from sally.core.rules.game import GameSpec
from sally.runner.budget import BudgetSpent
from sally.web.database import Job, Rows, Transaction

LOG = logging.getLogger("sally.web")


class Said(msgspec.Struct, frozen=True):
    """What was answered to an ask, and what was looked up for it."""

    ask: AskId
    given: Given
    looked: tuple[Looked, ...] = ()


class Looks(msgspec.Struct, frozen=True, tag_field="what", tag="look"):
    """A person looked something up before moving."""

    ask: AskId
    tool: str
    given: dict[str, Any]


class Stops(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="stop"):
    """The match was stopped without a result."""

    cause: str
    detail: str = ""
    seat: str = ""


StoredAnswer = Said | Looks | Stops


def stored_answer(turn: Turn[Any, Any], given: Given) -> Said:
    """An answer as it stands in the database; notes are kept where they are plain data."""
    if not isinstance(given, Decision | Forfeit):
        return Said(turn.id, given)
    # a bot is asked again, and has its own notes
    kept = given if given.calls else msgspec.structs.replace(given, memory=None)
    return Said(turn.id, kept, tuple(turn.looked))


def given_by(spec: GameSpec[Any, Any, Any], stored: Said) -> Given:
    """The answer that a stored answer holds, its action as the rules have it."""
    given = stored.given
    if not isinstance(given, Decision):
        return given
    return msgspec.structs.replace(given, action=action_of(spec, given.action))


def to_text(stored: StoredAnswer) -> str:
    """One flat JSON object: which kind of answer, to which ask, and its fields."""
    if not isinstance(stored, Said):
        return msgspec.json.encode(stored).decode()
    flat = {**msgspec.to_builtins(stored.given), "ask": stored.ask}
    if stored.looked:
        flat["looked"] = stored.looked
    return msgspec.json.encode(flat).decode()


def from_text(text: str) -> StoredAnswer:
    """The answer that `to_text` wrote."""
    flat: dict[str, Any] = msgspec.json.decode(text)
    if flat["what"] in ("look", "stop"):
        found: StoredAnswer = msgspec.convert(flat, Looks | Stops)
        return found
    ask = msgspec.convert(flat.pop("ask"), AskId)
    looked = msgspec.convert(flat.pop("looked", []), tuple[Looked, ...])
    return Said(ask, msgspec.convert(flat, Given), looked)


Written = tuple[str, StoredAnswer, str | None]  # seat, what it said, the client's key


def written(match: str, first: int, rows: Sequence[Written], over: bool) -> Job[None]:
    """A job: put answers behind the `first` ones that the database has, and say if it is over."""
    now = time.time()
    added = Rows(
        "answers (match, n, seat, entry, client_key, made)",
        "(?, ?, ?, ?, ?, ?)",
        [
            (match, n, seat, to_text(stored), key, now)
            for n, (seat, stored, key) in enumerate(rows, first)
        ],
    )
    if not over:
        return added

    def last(tx: Transaction) -> None:
        added(tx)
        tx.put("UPDATE matches SET ended = 1 WHERE id = ?", match)

    return last


async def consulted(
    turn: Turn[Any, Any], player: Player[Any, Any], seconds: float | None, match: str
) -> Given:
    """What a model says to a turn; a failed call is a fault, and so is one that takes too long."""
    clock = asyncio.timeout(seconds)
    try:
        async with clock:
            given: Any = put(turn, player)
            said: Given = await given if isawaitable(given) else given
            return said
    except BudgetSpent as why:
        return Fault(why.cause, why.detail)
    except Exception as why:
        if clock.expired():
            return Fault("limit", f"no answer within {seconds} s")
        LOG.exception("the player in seat %s of match %s broke down", turn.seat, match)
        return Fault("fault", f"the player broke down: {why!r}")
