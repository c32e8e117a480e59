"""A key that a reply repeats is stored nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from sally.core import redaction as keys
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import play_async
from sally.core.match.engine import Match
from sally.core.prompt.model import Reply, ToolCall
from sally.core.registry import registry
from sally.models.stub import Scripted
from sally.runner.seating import players_of

KEY = "lab-0123456789abcdef"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(keys, "_given", set())
    keys.known.cache_clear()
    yield
    keys.known.cache_clear()


def test_a_key_of_the_environment_is_scrubbed_by_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", KEY)
    monkeypatch.setenv("KEYBOARD_LAYOUT", "a quite ordinary value")
    assert keys.scrubbed(f"I saw {KEY}!") == "I saw [key]!"
    assert "ordinary" in keys.scrubbed("a quite ordinary value")


def test_a_key_that_was_used_is_scrubbed_and_a_short_one_is_a_word() -> None:
    assert keys.scrubbed(KEY) == KEY
    keys.remember("no")
    keys.remember(KEY)
    assert keys.scrubbed(f"{KEY}, no") == "[key], no"


def test_no_line_holds_a_key_that_a_model_repeats() -> None:
    keys.remember(KEY)
    echo = Scripted(lambda messages, settings: Reply(f"{KEY}\nOption: J", reasoning=f"so {KEY}"))
    lineup = {
        "agent": PlayerSpec("language", {"model": echo}),
        "partner": PlayerSpec("tit_for_tat"),
    }
    setup = Setup(Instance("ipd", "ipd", {"rounds": 2}), 1, lineup)
    match = Match(registry.game("ipd"), setup)
    asyncio.run(play_async(match, players_of(match)))
    assert all(KEY not in repr(event) for event in match.events)
    assert any("[key]" in repr(event) for event in match.events)


def test_no_call_of_a_tool_keeps_a_key_that_a_model_hands_on() -> None:
    keys.remember(KEY)
    said = iter((Reply("", (ToolCall(KEY, "look", f'{{"at": "{KEY}"}}'),)),))
    echo = Scripted(lambda messages, settings: next(said, Reply("Option: J")))
    lineup = {
        "agent": PlayerSpec("language", {"model": echo}),
        "partner": PlayerSpec("tit_for_tat"),
    }
    match = Match(registry.game("ipd"), Setup(Instance("ipd", "ipd", {"rounds": 2}), 1, lineup))
    asyncio.run(play_async(match, players_of(match)))
    assert all(KEY not in repr(event) for event in match.events)
    assert any("[key]" in repr(event) for event in match.events)
