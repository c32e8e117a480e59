"""What a player is told stands once on its page: beside the question, or in its past if kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sally.core.log.events import Injection
from sally.core.prompt.model import AS_THE_PROVIDER_DOES, Message, Reply, Settings, ToolSpec
from sally.core.registry import registry
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from tests.strategies.talk import ORACLE, Listener, says, setup_with

TOLD = "In this round the other player will pick"
KEPT = Injection("agent", "their_move", keep=True)  # type: ignore[arg-type]
REPLY = "Thoughts: so.\nPlan: go on.\nPlans: go on.\nInsights: none.\nOption: F"


class WholeTalk(Listener):
    """Remembers every message of a conversation, not only the last."""

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        reply = await super().complete(messages, settings, tools)
        self.pages[-1] = "\n".join(str(message.text) for message in messages)
        return reply


def pages_of(strategy: str, injected: Injection, rounds: int = 3, **with_: Any) -> list[str]:
    model = WholeTalk(says(REPLY))
    registry.add("models", "listener", lambda name: model)
    play(resolve_setup(setup_with(strategy, rounds=rounds, injected=(injected,), **with_)))
    return model.pages


@pytest.mark.parametrize(
    ("strategy", "with_"),
    [
        ("oracle", {}),
        ("oracle_max", {}),
        ("qa", {}),
        ("cot", {}),
        ("cot_3shot", {}),
        ("lm", {}),
        ("chat", {}),
        ("plans_insights", {}),
        ("self_consistency", {"n": 1}),
    ],
)
def test_kept_injection_is_shown_once_in_its_turn_and_stays(strategy, with_):
    assert [page.count(TOLD) for page in pages_of(strategy, KEPT, **with_)] == [1, 2, 3]


@pytest.mark.parametrize("strategy", ["oracle", "qa", "lm", "chat"])
def test_injection_without_keep_is_shown_only_in_its_turn(strategy):
    in_dialogue = [1, 2, 3] if strategy == "chat" else [1, 1, 1]  # earlier questions stay there
    assert [page.count(TOLD) for page in pages_of(strategy, ORACLE)] == in_dialogue


@pytest.mark.parametrize(
    ("strategy", "with_"), [("oracle_max", {"history": False}), ("s2a", {}), ("s2a_cot", {})]
)
def test_page_without_past_shows_the_injection_of_this_turn(strategy, with_):
    pages = pages_of(strategy, KEPT, **with_)
    moves = pages if strategy == "oracle_max" else pages[1::2]  # one after each summary
    assert [page.count(TOLD) for page in moves] == [1, 1, 1]


def test_kept_injection_follows_the_rounds_played_before_it():
    """A line of the past says which round it was told before, since `this round` is over."""
    last = pages_of("oracle", KEPT)[-1]
    indexes = [
        last.index("\nRound 2: "),
        last.index(f"\nBefore round 3: {TOLD}"),
        last.index("round 3."),
    ]
    assert indexes == sorted(indexes)
    assert pages_of("oracle", ORACLE)[-1].count("Before round") == 0
