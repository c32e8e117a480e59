"""What a model was shown, for the explorer: its strategy runs again on the logged replies."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log import Episode, Event
from sally.core.model import Context
from sally.core.player import Turn
from sally.models.stub import PromptDiffers
from sally.runner.check import answered_again


class Line(msgspec.Struct, frozen=True):
    """Somebody's words, for a page: who, and what."""

    who: str
    text: str


def prompts_of(
    episode: Episode, turn: Turn[Any, Any], event: Event | None
) -> tuple[tuple[tuple[Line, ...], ...], str]:
    """What a model was shown, call by call, or why that cannot be rendered again."""
    calls = getattr(event, "calls", ())
    if not calls:
        return (), ""
    try:
        _, model = answered_again(turn, episode.setup.lineup[turn.seat], calls)
    except (PromptDiffers, BadInput) as why:
        return (), str(why)
    finally:
        turn.looked.clear()
    shown = zip(model.shown, model.candidates, strict=True)
    return tuple(_as_lines(context, candidates) for context, candidates in shown), ""


def _as_lines(context: Context, candidates: tuple[str, ...]) -> tuple[Line, ...]:
    among = (Line("candidates", "\n".join(candidates)),) if candidates else ()
    if isinstance(context, str):
        return (Line("text", context), *among)
    told = (Line(type(message).__name__.lower(), str(message.text)) for message in context)
    return (*told, *among)
