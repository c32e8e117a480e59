"""The first try at a decision: one page, one call, and a reply that names a move.

Nearly every decision of a player that asks once ends there. What is done here is what
`LanguagePlayer.decide` does for such a decision, with fewer objects on the way. Whatever else
comes of the call - a failure, a tool, words that name no move - is handed back, and `decide` goes
through it from the beginning, with that outcome for its first call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins
from msgspec.structs import force_setattr

from sally.core import redaction as keys
from sally.core.log.events import Call
from sally.core.match.player import Decision, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.model import (
    Model,
    Reply,
    Settings,
    User,
)
from sally.core.prompt.prompt_hash import page_hash
from sally.core.prompt.strategy import PromptContext
from sally.core.reply.reading import MOST_READ
from sally.core.rules.chance import derived_seed

Outcome = Reply | Exception  # of a call


async def first_try(
    model: Model,
    settings: Settings,
    turn: Turn[Any, Any],
    context: SeatContext,
    texts: Mapping[str, str],
) -> Decision[Any] | Outcome:
    """The decision, if the reply to one page names a move; else what came of the call."""
    opening, tail = page_of(turn, context, texts)
    page, settings = opening.plus(tail), seeded(settings, turn, 0)
    try:
        reply = await model.complete([User(page)], settings, ())
    except Exception as why:  # passing or not: `decide` says
        return why
    text, thoughts = reply.text, reply.reasoning or ""
    if reply.finish != "stop" or reply.tool_calls or len(text) > MOST_READ:
        return reply
    if keys.known() and keys.scrubbed(text + thoughts) != text + thoughts:
        return reply
    try:
        action = context.read(text, turn.view, turn.options)
    except Exception:  # `decide` reads it again, and says and logs what is wrong with it
        return reply
    usage, asked = to_builtins(reply.usage), to_builtins(settings)
    call = Call("move", page_hash(page), text, "stop", usage, asked, thoughts)
    return Decision(action, None, text, 1, (call,))


def page_of(
    turn: Turn[Any, Any], context: SeatContext, texts: Mapping[str, str]
) -> tuple[HashedText, str]:
    """The page that one question shows: what stands above, and the tail below it."""
    words, view, menu = context.words, turn.view, turn.options
    opening = context.opening(view, words.forms[0])
    if turn.told:
        return opening, PromptContext(turn, "", texts, context).tail()
    # The same, without the hops of a sheet.
    now, question, form = words.now(view), words.question(view, menu), words.format(view, menu)
    if now and question and form:
        return opening, f"{now}\n{question}\n{form}"
    return opening, "\n".join(part for part in (now, question, form) if part)


def seeded(settings: Settings, turn: Turn[Any, Any], calls: int) -> Settings:
    """The settings of a turn's next call, after so many; with a seed of its own unless given."""
    if settings.seed is not None:
        return settings
    number, seat, probe, about = turn.id
    own: Settings = settings.__copy__()  # type: ignore[attr-defined]  # checked already
    seed = derived_seed(f"{turn.context.seed}/{number}/{seat}/{probe}/{about}/{calls}") % (
        2**32 - 1
    )
    force_setattr(own, "seed", seed)  # below the bound, so it cannot be wrong
    return own
