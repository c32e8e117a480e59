"""What a model was shown: its strategy runs again before a model that says what was logged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log import Episode, Event
from sally.core.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.player import Turn
from sally.models.stub import Playback, PromptDiffers
from sally.players.language import LanguagePlayer
from sally.runner.check import recorded
from sally.runner.seating import seated


class Line(msgspec.Struct, frozen=True):
    """Somebody's words, for a page: who, and what."""

    who: str
    text: str


class Overheard(Playback):
    """A playback model that keeps what it is shown."""

    shown: list[tuple[Line, ...]]

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        self.shown.append(_as_lines(messages))
        return await super().complete(messages, settings, tools)

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        among = Line("candidates", "\n".join(candidates))
        self.shown.append((*_as_lines(context), among))
        return await super().score(context, candidates, settings)


def _as_lines(context: Context) -> tuple[Line, ...]:
    if isinstance(context, str):
        return (Line("text", context),)
    return tuple(Line(type(message).__name__.lower(), str(message.text)) for message in context)


def prompts_of(
    episode: Episode, turn: Turn[Any, Any], event: Event | None
) -> tuple[tuple[tuple[Line, ...], ...], str]:
    """What a model was shown, call by call, or why that cannot be rendered again."""
    calls = getattr(event, "calls", ())
    if not calls:
        return (), ""
    who = episode.setup.lineup[turn.seat]
    model = Overheard(recorded(calls))
    model.shown = []
    try:
        on_playback = msgspec.structs.replace(who, params={**who.params, "model": model})
        player: Any = seated(turn.desk.spec, turn.desk.game, turn.seat, on_playback)
        if isinstance(player, LanguagePlayer):
            player = msgspec.structs.replace(player, call_retries=len(calls))
        asyncio.run(player.decide(turn) if turn.question is None else player.report(turn))
    except (PromptDiffers, BadInput) as why:
        return (), str(why)
    finally:
        turn.looked.clear()
    return tuple(model.shown), ""
