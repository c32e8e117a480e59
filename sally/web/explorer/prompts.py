"""What a model was shown, for the explorer: its strategy runs again on the logged replies."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.errors import BadInput, PromptDiffers
from sally.core.log.events import Episode, Event
from sally.core.match.engine import Match
from sally.core.match.playback import rerun
from sally.core.match.player import AskId, Turn
from sally.core.prompt.model import Context
from sally.core.registry import registry
from sally.runner.check import answered_again


class Line(msgspec.Struct, frozen=True):
    """Somebody's words, for a page: who, and what."""

    who: str
    text: str


class Shown(msgspec.Struct, frozen=True):
    """What a model was shown, call by call, or why that cannot be rendered again."""

    prompts: tuple[tuple[Line, ...], ...] = ()
    why_not: str = ""


def prompts_in(episode: Episode, seat: str, turn: int) -> dict[AskId | None, Shown]:
    """What the model in a seat was shown in one turn, under each ask."""
    found: dict[AskId | None, Shown] = {}
    if not any(e.seat == seat and e.turn == turn and e.calls for e in episode.events):
        return found
    spec = registry.game(episode.setup.instance.game)
    match: Match[Any, Any, Any] = Match(spec, episode.setup, ask_nature=True)
    for asked, event in rerun(match, episode):
        if asked.number > turn:
            break
        if event is not None and event.calls and (asked.seat, asked.number) == (seat, turn):
            found[asked.id] = _shown(episode, asked, event)
    return found


def _shown(episode: Episode, turn: Turn[Any, Any], event: Event) -> Shown:
    try:
        _, requests = answered_again(turn, episode.setup.lineup[turn.seat], event.calls)
    except (PromptDiffers, BadInput) as why:
        return Shown(why_not=str(why))
    finally:
        turn.looked.clear()
    return Shown(tuple(_as_lines(asked.messages, asked.candidates) for asked in requests))


def _as_lines(context: Context, candidates: tuple[str, ...]) -> tuple[Line, ...]:
    among = (Line("candidates", "\n".join(candidates)),) if candidates else ()
    if isinstance(context, str):
        return (Line("text", context), *among)
    told = (Line(type(message).__name__.lower(), str(message.text)) for message in context)
    return (*told, *among)
