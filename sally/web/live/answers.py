"""The stored form of answers, from which a match can be rebuilt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from inspect import isawaitable
from typing import Any

import msgspec

from sally.core.log.events import ToolUse
from sally.core.match.answers import action_of
from sally.core.match.player import Decision, Fault, Forfeit, Given, Player, Turn, send_ask
from sally.core.rules.game import GameSpec
from sally.core.rules.replay import AskId
from sally.runner.budget import BudgetSpent
from sally.web.database import Job, Rows, Transaction

LOG = logging.getLogger("sally.web")


class GivenAnswer(msgspec.Struct, frozen=True):
    """An answer to an ask, with the tool calls made for it."""

    ask: AskId
    given: Given
    looked: tuple[ToolUse, ...] = ()
    shown_seconds: float | None = None  # from display to answer, as the browser measured it


class LookUp(msgspec.Struct, frozen=True, tag_field="what", tag="look"):
    """A tool call that a person made before moving."""

    ask: AskId
    tool: str
    given: dict[str, Any]


class Stop(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="what", tag="stop"):
    """The end of a match that was stopped without a result."""

    cause: str
    detail: str = ""
    seat: str = ""


StoredAnswer = GivenAnswer | LookUp | Stop


def stored_answer(turn: Turn, answer: Given, shown_seconds: float | None = None) -> GivenAnswer:
    """Return the stored form of an answer; memory is stored only for model players."""
    if not isinstance(answer, Decision | Forfeit):
        return GivenAnswer(turn.id, answer, shown_seconds=shown_seconds)
    # bots are asked again on rebuilding and restore their own memory
    stored = answer if answer.calls else msgspec.structs.replace(answer, memory=None)
    return GivenAnswer(turn.id, stored, turn.looked, shown_seconds)


def given_by(spec: GameSpec, stored: GivenAnswer) -> Given:
    """Return the answer in a stored record, with the action in the game's own type."""
    answer = stored.given
    if not isinstance(answer, Decision):
        return answer
    return msgspec.structs.replace(answer, action=action_of(spec, answer.action))


def to_text(stored: StoredAnswer) -> str:
    """Encode a record as one flat JSON object: kind, ask and fields."""
    if not isinstance(stored, GivenAnswer):
        return msgspec.json.encode(stored).decode()
    flat = {**msgspec.to_builtins(stored.given), "ask": stored.ask}
    if stored.looked:
        flat["looked"] = stored.looked
    if stored.shown_seconds is not None:
        flat["shown_seconds"] = stored.shown_seconds
    return msgspec.json.encode(flat).decode()


def from_text(text: str) -> StoredAnswer:
    """Decode a record written by `to_text`."""
    flat: dict[str, Any] = msgspec.json.decode(text)
    if flat["what"] in ("look", "stop"):
        stored: StoredAnswer = msgspec.convert(flat, LookUp | Stop)
        return stored
    ask = msgspec.convert(flat.pop("ask"), AskId)
    looked = msgspec.convert(flat.pop("looked", []), tuple[ToolUse, ...])
    seconds = flat.pop("shown_seconds", None)
    return GivenAnswer(ask, msgspec.convert(flat, Given), looked, seconds)


AnswerRow = tuple[str, StoredAnswer, str | None]  # seat, record, the client's idempotency key


def answers_job(match: str, first: int, rows: Sequence[AnswerRow], is_over: bool) -> Job[None]:
    """Return a job that stores answers, numbered from `first`, and marks the match as finished if
    `is_over`."""
    now = time.time()
    added = Rows(
        "answers (match, n, seat, entry, client_key, made)",
        "(?, ?, ?, ?, ?, ?)",
        [
            (match, n, seat, to_text(stored), key, now)
            for n, (seat, stored, key) in enumerate(rows, first)
        ],
    )
    if not is_over:
        return added

    def last(tx: Transaction) -> None:
        added(tx)
        tx.execute("UPDATE matches SET ended = 1 WHERE id = ?", match)

    return last


async def ask_player(turn: Turn, player: Player, seconds: float | None, match: str) -> Given:
    """Return a model's answer to a turn; a failed or timed-out call becomes a Fault."""
    clock = asyncio.timeout(seconds)
    try:
        async with clock:
            pending: Any = send_ask(turn, player)
            answer: Given = await pending if isawaitable(pending) else pending
            return answer
    except BudgetSpent as error:
        return Fault(error.cause, error.detail)
    except Exception as error:
        if clock.expired():
            return Fault("limit", f"no answer within {seconds} s")
        LOG.exception("the player in seat %s of match %s raised an exception", turn.seat, match)
        return Fault("fault", f"the player raised {error!r}")
