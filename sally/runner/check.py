"""Replaying what is stored: the same events and the same prompts, or where they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sally.core import shelf
from sally.core.errors import BadInput
from sally.core.game import Game, GameSpec, Seat
from sally.core.log import Call, Episode
from sally.core.model import Fault, Reply, Scores, ToolCall, Usage
from sally.core.playback import Again, mismatch, require_version
from sally.core.player import Turn
from sally.models.stub import Playback, PromptDiffers, Recorded
from sally.players.language import LanguagePlayer
from sally.runner.seating import seated, versions_of


@dataclass
class Checked:
    """What a replay found."""

    episodes: int = 0
    replayed: int = 0
    mismatches: list[tuple[str, str]] = field(default_factory=list)
    unchecked: list[tuple[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "episodes": self.episodes,
            "replayed": self.replayed,
            "mismatches": [{"episode": id, "why": why} for id, why in self.mismatches],
            "unchecked": [{"episode": id, "why": why} for id, why in self.unchecked],
        }


def check(episodes: Iterable[Episode]) -> Checked:
    """Run every log through a match again; what has another version is listed, not failed."""
    found = Checked()
    for episode in episodes:
        found.episodes += 1
        try:
            spec = shelf.game(episode.setup.instance.game)
            require_version(spec, episode)
        except BadInput as why:
            found.unchecked.append((episode.id, str(why)))
            continue
        other = _other_versions(spec, episode)
        try:
            wrong = mismatch(spec, episode, None if other else _asked_again(spec, episode))
        except PromptDiffers as why:
            wrong = str(why)
        if wrong is not None:
            found.mismatches.append((episode.id, wrong))
            continue
        found.replayed += 1
        if other:
            found.unchecked.append((episode.id, f"moves replay, prompts were not checked: {other}"))
    return found


def _other_versions(spec: GameSpec[Any, Any, Any], episode: Episode) -> str | None:
    """Why the prompts of an episode cannot be rendered as they were, if they cannot."""
    for seat, who in episode.setup.lineup.items():
        if not _has_calls(episode, seat):
            continue
        try:
            now = versions_of(spec, who)
        except BadInput as why:
            return str(why)
        if now != who.versions:
            return f"{seat} was {who.versions}, installed is {now}"
    return None


def _has_calls(episode: Episode, seat: str) -> bool:
    return any(getattr(e, "seat", None) == seat and getattr(e, "calls", ()) for e in episode.events)


def _asked_again(spec: GameSpec[Any, Any, Any], episode: Episode) -> Again:
    """Seat the same strategies before a model that says what was logged."""
    game: Game[Any, Any, Any] = spec.build(episode.setup.instance.params)

    def again(turn: Turn[Any, Any], event: Any) -> Any:
        who = episode.setup.lineup[turn.seat]
        model = Playback(recorded(event.calls))
        on_playback = msgspec.structs.replace(who, params={**who.params, "model": model})
        player = seated(spec, game, Seat(turn.seat), on_playback)
        if isinstance(player, LanguagePlayer):  # as often as the log tried a failed call again
            player = msgspec.structs.replace(player, call_retries=len(event.calls))
        given: Any = player.decide(turn) if turn.question is None else player.report(turn)  # type: ignore[attr-defined]
        return asyncio.run(given)

    return again


def recorded(calls: Sequence[Call]) -> list[Recorded]:
    """Logged calls as a playback model takes them."""
    return [Recorded(call.prompt, _answer(call)) for call in calls]


def _answer(call: Call) -> Reply | Scores | Fault:
    if call.failure:
        return Fault(call.failure, call.detail)  # type: ignore[arg-type]
    usage = msgspec.convert(call.usage, Usage)
    if call.scores:
        names = tuple(str(i) for i in range(len(call.scores)))  # a log keeps no candidate twice
        return Scores(names, call.scores, usage)
    tools = tuple(msgspec.convert(tool, ToolCall) for tool in call.tools)
    return Reply(call.reply, tools, usage, call.finish, call.reasoning or None)  # type: ignore[arg-type]
