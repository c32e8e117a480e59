"""A table with a scripted model in the agent's seat, and what was said at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sally.core.log.events import Episode, Injection, Instance, Moved, PlayerSpec, Reported, Setup
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.registry import registry
from sally.models.stub import Answer, Scripted
from sally.runner.local import play
from sally.runner.seating import resolve_setup

MINE = ("their_move_given_mine",)
THEIRS = ("their_move",)
ORACLE = Injection("agent", "their_move")  # type: ignore[arg-type]


class Listener(Scripted):
    """Answers by a script of the page and the number of the call, and keeps all pages."""

    def __init__(self, script: Callable[[str, int], Answer], scores: bool = True) -> None:
        scorer = (lambda context, name: -1.0 - ord(name[0]) / 1000) if scores else None
        super().__init__(
            lambda messages, _: script(str(messages[-1].text), len(self.pages)), scorer
        )
        self.pages: list[str] = []

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        self.pages.append(str(messages[-1].text))
        return await super().complete(messages, settings, tools)

    async def score(
        self,
        context: Context,
        candidates: Sequence[str],
        settings: Settings = AS_THE_PROVIDER_DOES,
    ) -> Scores:
        self.pages.append(str(context))
        return await super().score(context, candidates, settings)


def says(*replies: str) -> Callable[[str, int], Answer]:
    """These replies in turn, the last one for ever."""
    return lambda page, call: replies[min(call, len(replies)) - 1]


def setup_with(
    strategy: str,
    game: str = "ipd",
    rounds: int = 3,
    arm: tuple[str, ...] = (),
    injected: tuple[Injection, ...] = (),
    retries: int = 1,
    partner: PlayerSpec | None = None,
    params: dict[str, Any] | None = None,
    **with_: Any,
) -> Setup:
    agent = {"model": "listener", "strategy": strategy, "with_": with_, **(params or {})}
    return Setup(
        Instance(game, game, {"rounds": rounds}),
        1,
        {"agent": PlayerSpec("language", agent), "partner": partner or PlayerSpec("tit_for_tat")},
        arms={"agent": arm} if arm else {},
        injections=injected,
        retries=retries,
    )


def talk(
    script: Callable[[str, int], Answer], strategy: str, scores: bool = True, **table: Any
) -> tuple[Episode, list[str]]:
    """Play it out: the episode and every page that the model was shown."""
    model = Listener(script, scores)
    registry.add("models", "listener", lambda name: model)
    episode = play(resolve_setup(setup_with(strategy, **table)))
    return episode, model.pages


def moves(episode: Episode) -> list[Moved]:
    return [e for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]


def reports(episode: Episode) -> list[Reported]:
    return [e for e in episode.events if isinstance(e, Reported) and e.seat == "agent"]
