"""Golden conversations: what each strategy says to a model in each repeated game, word by word.

`python -m tests.conversations` writes them again; read every change with a sceptic's eye, and
raise the version of the strategy or of the words that changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sally.core.log.events import Call, Injection, Instance, Moved, PlayerSpec, Reported, Setup
from sally.core.match.strategy import Strategy
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
from sally.models.stub import Scripted
from sally.runner.local import play
from sally.runner.seating import resolve_setup

FOLDER = Path(__file__).parent
GAMES = ("rps", "ibs", "ipd")
SHOWN = (0, 3)  # the turns that are written down: without a past, and with one
WITH = {"reflexion": {"memory": 3}, "self_consistency": {"n": 2}}
NEED_OTHER_GAMES = ("chat",)  # its conversation belongs to another paper's game


class Recorder(Scripted):
    """A scripted model that remembers what it was shown."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(lambda messages, _: said(messages[-1].text, names), _score)
        self.pages: list[str] = []

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        self.pages.append("\n".join(str(message.text) for message in messages))
        return await super().complete(messages, settings, tools)

    async def score(
        self, context: Context, candidates: Sequence[str], settings: Settings = AS_THE_PROVIDER_DOES
    ) -> Scores:
        self.pages.append(str(context))
        return await super().score(context, candidates, settings)


def said(page: str, names: Sequence[str]) -> str:
    """A plain reply in whatever form the page asks for."""
    asked_page = page[page.rfind("\n\n") :]
    if "begins with `Plan:`" in asked_page:
        return f"Plan: expect {names[0]} and choose the best reply to it."
    if "write a short summary" in asked_page:
        return f"The other player has mostly picked Option {names[0]}. Matching matters."
    parts = [
        f"{label}: {text}"
        for label, text in (
            ("Thoughts", "the other player repeats itself, so I choose the best reply."),
            ("Plans", "go on as before."),
            ("Insights", "the other player repeats itself."),
            ("Reasoning", "the other player has no reason to change."),
            ("Predicted Action", names[0]),
        )
        if f"`{label}:" in asked_page
    ]
    if "asked for your own choice afterwards" not in asked_page:
        parts.append(f"Option: {names[-1]}")
    return "\n".join(parts)


def _score(context: Any, candidate: str) -> float:
    return -1.0 - len(candidate) - ord(candidate[0]) / 1000


def setup_of(name: str, strategy: Strategy) -> Setup:
    """A short game as riemer2025 would play it under this strategy."""
    injected = (Injection("agent", "their_move"),) if "told" in strategy.needs else ()  # type: ignore[arg-type]
    asked = "after" in strategy.points and not injected and strategy.name[:4] != "tom_"
    params = {"with_": WITH[strategy.name]} if strategy.name in WITH else {}
    agent = PlayerSpec("language", {"model": "recorder", "strategy": strategy.name, **params})
    lineup = {"agent": agent, "partner": PlayerSpec("tit_for_tat")}
    arms: dict[str, tuple[str, ...]] = {"agent": ("their_move_given_mine",)} if asked else {}
    instance = Instance(name, name, {"rounds": max(SHOWN) + 1})
    return resolve_setup(Setup(instance, 1, lineup, arms=arms, injections=injected))


def conversation(strategy: Strategy) -> str:
    """All that was said in the turns that are shown, game by game."""
    return "\n".join(part for game in GAMES for part in _of_game(game, strategy))


def _of_game(name: str, strategy: Strategy) -> Iterator[str]:
    model = Recorder(registry.game(name).presets.get(name, registry.game(name).defaults)["names"])
    registry.add("models", "recorder", lambda _: model)
    episode = play(setup_of(name, strategy))
    pages = iter(model.pages)
    for event in episode.events:
        if isinstance(event, Moved | Reported):
            for call in event.calls:
                page = next(pages)
                if event.turn in SHOWN:
                    yield f"=== {name}, round {event.turn + 1}, {call.purpose} ===\n{page}"
                    yield f"--- {_answer(call)}\n"


def _answer(call: Call) -> str:
    if call.scores:
        return "log-probabilities: " + ", ".join(f"{score:.3f}" for score in call.scores)
    return f"reply:\n{call.reply}"


def strategies() -> list[Strategy]:
    """Every strategy that has a golden conversation here."""
    all_strategies: list[Strategy] = list(registry.entries("strategies").values())
    return [s for s in all_strategies if s.name not in NEED_OTHER_GAMES]


def place(strategy: Strategy) -> Path:
    return FOLDER / f"{strategy.name}.txt"
